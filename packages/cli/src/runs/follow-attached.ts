import type { RunReport } from '@sluice/run';
import { type AttachedRun, attachRun } from '@sluice/runner';
import type { CommandContext } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { createProgress } from '../render/create-progress.ts';
import type { Progress } from '../render/plain-progress.ts';
import type { FollowOptions } from './follow-options.ts';
import { showEnd } from './show-end.ts';

/**
 * Follows a run until its end or a signal. Signals are awaited before the first event is reported, and have their usual
 * effect again while the outputs are copied.
 */
export async function followAttached(
  runId: string,
  given: {
    home: string;
    context: CommandContext;
    options: FollowOptions;
    isAwaited?: () => Promise<boolean>;
    onAttached?: (run: AttachedRun, progress: Progress) => void;
    publish?: (report: RunReport, progress: Progress) => Promise<RunReport>;
    /** Aborted when the run can no longer be followed. */
    lost?: AbortSignal;
  },
): Promise<number> {
  const { home, context, options, isAwaited = async () => true, publish = async (report) => report, lost } = given;
  const left = new AbortController();
  const leave = (code: number) => left.abort(code);
  const unsubscribe = [
    context.onSignal('SIGINT', () => leave(EXIT_CODE.interrupted)),
    context.onSignal('SIGTERM', () => leave(EXIT_CODE.suspended)),
  ];
  const progress = createProgress(context.terminal, options);
  let report: RunReport;
  try {
    const attached = await attachRun({ home, runId, reporter: progress, isAwaited });
    if (!attached.ok) {
      progress.close();
      return reject(fromRunError(attached.error, { options, runId }), { context, options });
    }
    const run = attached.value;
    lost?.addEventListener('abort', () => leave(EXIT_CODE.suspended));
    left.signal.addEventListener('abort', () => run.stop());
    if (left.signal.aborted) run.stop();
    else given.onAttached?.(run, progress);
    report = await run.finished;
  } finally {
    for (const stop of unsubscribe) stop();
  }
  if (!left.signal.aborted) return showEnd(await publish(report, progress), { context, progress, options });
  if (lost?.aborted !== true)
    progress.print(`run ${runId} continues; attach again with: ${suggestCommand(['attach', runId], options)}`);
  progress.close();
  return left.signal.reason as number;
}
