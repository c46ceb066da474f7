import { fail, ok, type Result } from '@sluice/core';
import { describeCustody, moveRun, readCustody, runCustody } from '@sluice/home';
import type { RunSummary } from '@sluice/run';
import { selectHostedOptions } from '../connect/hosted-options.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError } from '../context/reject.ts';
import { leaveMoved } from '../home/take-run.ts';
import type { HandedRun, RunToHand } from '../runs/handed-run.ts';
import { findHostFault } from './hand-to-host.ts';
import { hostRun } from './host-run.ts';

/** Has the home's host execute a run, whether another process executes it now or none does. A server keeps its runs. */
export async function handOver(
  { status, endedAt }: Pick<RunSummary, 'status' | 'endedAt'>,
  given: RunToHand,
): Promise<Result<HandedRun, CommandError>> {
  const { home, runId, context, options } = given;
  const rejection = (message: string) =>
    fail({ exitCode: EXIT_CODE.rejected, message: `could not detach run ${runId}: ${message}` });
  if (endedAt !== undefined) return rejection(`it has ended: ${status}`);
  let moved: Awaited<ReturnType<typeof moveRun>>;
  try {
    const custody = await readCustody(runCustody(home, runId));
    if (custody.state === 'server') {
      const { service: url, runUrl: page } = custody.place;
      return ok({ runId, to: 'server', url, ...(page !== undefined && { page }) });
    }
    const fault = describeCustody(custody) ?? findHostFault(home);
    if (fault !== undefined) return rejection(fault);
    // Before the other process leaves it: if this one is killed, the next host resumes the run.
    moved = await moveRun({ home, runId }, 'detach', { options: { ...selectHostedOptions(options, context) } });
  } catch (error) {
    return rejection(`${describeSystemError(error)}; nothing has changed`);
  }
  if (!moved.ok) return rejection(moved.error);
  const left = await leaveMoved(home, runId, moved.value);
  if (!left.ok) return fail(fromRunError(left.error, { options, runId }));
  return hostRun(given);
}
