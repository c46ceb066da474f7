import { dirname } from 'node:path';
import type { RunHandle } from '@sluice/runner';
import type { CommandContext } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { watchDisk } from '../home/watch-disk.ts';
import type { Progress } from '../render/plain-progress.ts';
import type { FollowOptions } from './follow-options.ts';
import type { JobHandover } from './job-handover.ts';
import { showEnd } from './show-end.ts';

const LONG_MS = 1_000_000_000;
/** Time for a second SIGINT before the first one suspends. */
const SECOND_INTERRUPT_MS = 1_500;
/** After SIGTERM, the process exits within this time even if something hangs: all state is durable. */
const SUSPEND_TIMEOUT_MS = 4_000;

/**
 * Follows a run until it ends or is suspended, and resolves to the exit code. SIGINT once suspends, twice cancels, three
 * times exits at once; SIGTERM suspends; SIGHUP is ignored.
 */
export async function followRun(
  run: RunHandle,
  given: {
    context: CommandContext;
    progress: Progress;
    options: FollowOptions;
    handover?: JobHandover | undefined;
  },
): Promise<number> {
  const { context, progress, options, handover } = given;
  const { terminal } = context;
  let interrupts = 0;
  let timeout: NodeJS.Timeout | undefined;
  const interrupt = async () => {
    interrupts += 1;
    if (interrupts === 1) {
      if (terminal.interactive) progress.print('suspending; press Ctrl-C again to cancel the run');
      // Programs send signals one right after the other, too.
      await new Promise((resolve) => setTimeout(resolve, SECOND_INTERRUPT_MS));
      if (interrupts === 1) await run.suspend();
    } else if (interrupts === 2) {
      progress.print('canceling the run; press Ctrl-C again to exit at once');
      run.cancel('interrupt');
    } else {
      progress.print(`exited; resume the run with: ${suggestCommand(['resume', run.runId], options)}`);
      progress.close();
      context.exit(EXIT_CODE.interrupted);
    }
  };
  const unsubscribe = [
    context.onSignal('SIGINT', () => void interrupt()),
    context.onSignal('SIGTERM', () => {
      timeout ??= setTimeout(() => context.exit(EXIT_CODE.suspended), SUSPEND_TIMEOUT_MS).unref();
      void run.suspend();
    }),
    context.onSignal('SIGHUP', () => {}),
  ];
  // Nothing else keeps the process alive if the service is remote and the run only waits for an approval.
  const alive = setInterval(() => {}, LONG_MS);
  const stopHandover = handover?.watch(run, progress.print);
  const unwatch = watchDisk(dirname(dirname(run.directory)), progress.print);
  const report = await run.finished;
  clearTimeout(timeout);
  clearInterval(alive);
  stopHandover?.();
  unwatch();
  for (const stop of unsubscribe) stop();
  const exitCode = await showEnd(report, given);
  return interrupts > 0 ? EXIT_CODE.interrupted : exitCode;
}
