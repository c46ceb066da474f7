import { fail, ok, type Result } from '@sluice/core';
import {
  type Clock,
  createSystemClock,
  createSystemDisk,
  type Disk,
  findRunId,
  runDirectory,
  sleep,
} from '@sluice/home';
import type { RunError, RunReport } from '@sluice/run';
import { askResumedRunner, RESUME_MS } from '../session/ask-runner.ts';
import { withDefaults } from '../session/run-defaults.ts';
import type { ResumeRunOptions, RunHandle } from '../session/run-options.ts';
import { resumeRun } from './resume-run.ts';

/**
 * Cancels a run. If a living runner executes it, that runner receives the request and `undefined` is returned at once;
 * otherwise this process resumes the run, cancels its containers and returns the report.
 */
export async function cancelRun(
  given: ResumeRunOptions & { readonly by: string },
): Promise<Result<RunReport | undefined, RunError>> {
  const requested = await requestCancel(given);
  if (!requested.ok) return requested;
  const { runId, isExecuted } = requested.value;
  if (isExecuted) return ok(undefined);
  const resumed = await resumeToCancel({ ...given, runId, cancelBy: given.by });
  return resumed.ok ? ok(await resumed.value?.finished) : resumed;
}

/**
 * Resumes a run that no process executes, only to cancel it. Undefined: another process has taken the run meanwhile, and has
 * received the request.
 */
export async function resumeToCancel(
  given: ResumeRunOptions & { readonly cancelBy: string },
): Promise<Result<RunHandle | undefined, RunError>> {
  const options = withDefaults(given);
  const { clock } = options;
  const until = clock.now() + RESUME_MS;
  for (;;) {
    const resumed = await resumeRun(options);
    const mayAsk = options.cancelsOnce !== true && clock.now() < until;
    if (resumed.ok || resumed.error.code !== 'RUN_IN_USE' || !mayAsk) return resumed;
    const requested = await requestCancel({ ...options, by: options.cancelBy });
    if (!requested.ok) return requested;
    if (requested.value.isExecuted) return ok(undefined);
    await sleep(clock, PAUSE_MS);
  }
}

const PAUSE_MS = 50;

/**
 * Requests the living runner of a run to cancel it, and waits while the run is being resumed. If no process executes the
 * run, nothing happens.
 */
export async function requestCancel({
  home,
  by,
  disk = createSystemDisk(),
  clock = createSystemClock(),
  ...given
}: {
  readonly home: string;
  readonly runId: string;
  readonly by: string;
  readonly disk?: Disk;
  readonly clock?: Clock;
}): Promise<Result<{ readonly runId: string; readonly isExecuted: boolean }, RunError>> {
  const found = await findRunId(disk, home, given.runId);
  if (!found.ok) return found;
  const runId = found.value;
  const answer = await askResumedRunner({ disk, clock }, runDirectory(home, runId), { verb: 'cancel', by });
  if (answer === undefined || answer === 'ok') return ok({ runId, isExecuted: answer === 'ok' });
  return fail({ code: 'RUN_IN_USE', message: `could not cancel the run: ${answer}` });
}
