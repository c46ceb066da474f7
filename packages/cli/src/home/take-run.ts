import { fail, ok, type Result } from '@sluice/core';
import { type Custody, moveRun, restoreCustody } from '@sluice/home';
import type { RunError } from '@sluice/run';
import { suspendRun } from '@sluice/runner';

/**
 * Has the process that executes a run leave it, and the home's host not resume it. `true`: it was executed, or left to the
 * host. `of` says which executors are meant: a terminal keeps its run unless it is `any`. `verb` is for the messages.
 */
export async function takeRun(
  home: string,
  { runId, of, verb }: { readonly runId: string; readonly of: 'host' | 'any'; readonly verb: string },
): Promise<Result<boolean, RunError>> {
  const moved = await moveRun({ home, runId }, 'take');
  if (!moved.ok) return fail({ code: 'RUN_IN_USE', message: `could not ${verb} run ${runId}: ${moved.error}` });
  const wasHosted = moved.value.state === 'host';
  if (!wasHosted && of === 'host') return ok(false);
  const left = await leaveMoved(home, runId, moved.value);
  return left.ok ? ok(left.value || wasHosted) : left;
}

/** Has the process that executes a run leave it after its custody was moved. If it does not, the custody is `before` again. */
export async function leaveMoved(home: string, runId: string, before: Custody): Promise<Result<boolean, RunError>> {
  const left = await suspendRun({ home, runId });
  if (!left.ok) await restoreCustody(home, runId, before);
  return left;
}
