import { fail, ok, type Result } from '@sluice/core';
import { askPhase, runDirectory, sleep } from '@sluice/home';
import type { RunError } from '@sluice/run';
import { askResumedRunner } from '../session/ask-runner.ts';
import { withDefaults } from '../session/run-defaults.ts';
import type { RunnerOptions } from '../session/run-options.ts';

const PAUSE_MS = 20;
/** A runner that does not release the run within this time is busy with a file system that does not answer. */
const RELEASE_MS = 30_000;

/**
 * Requests the process that executes a run, or waits for its concurrency group, to leave it, and waits until the run can be
 * resumed. `false`: no process had it. The containers keep running.
 */
export async function suspendRun(
  given: Pick<RunnerOptions, 'home' | 'clock' | 'disk'> & { readonly runId: string },
): Promise<Result<boolean, RunError>> {
  const { disk, clock, home, runId } = withDefaults(given);
  const directory = runDirectory(home, runId);
  const reject = (reason: string) =>
    fail({ code: 'RUN_IN_USE' as const, message: `could not suspend run ${runId}: ${reason}` });
  const answer = await askResumedRunner({ disk, clock }, directory, { verb: 'suspend' });
  if (answer === undefined) return ok(false);
  if (answer !== 'ok') return reject(answer);
  const until = clock.now() + RELEASE_MS;
  while ((await askPhase(disk, directory)) !== 'suspended') {
    if (clock.now() >= until)
      return reject(`the process that executes it has not left it within ${RELEASE_MS / 1000} s, and may still do so`);
    await sleep(clock, PAUSE_MS);
  }
  return ok(true);
}
