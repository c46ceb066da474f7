import { fail, ok, type Result } from '@sluice/core';
import { describeServer, readServerMark, runDirectory } from '@sluice/home';
import { markHosted, readMark, unmarkHosted } from '@sluice/host';
import type { RunSummary } from '@sluice/run';
import { detachRun } from '@sluice/runner';
import { selectHostedOptions } from '../connect/hosted-options.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal } from '../context/refuse.ts';
import type { HandedRun, RunToHand } from '../runs/handed-run.ts';
import { findHostFault } from './hand-to-host.ts';
import { hostRun } from './host-run.ts';

/** Has the home's host execute a run, whether another process executes it now or none does. A server keeps its runs. */
export async function handOver(
  { status, endedAt }: Pick<RunSummary, 'status' | 'endedAt'>,
  given: RunToHand,
): Promise<Result<HandedRun, CommandRefusal>> {
  const { home, runId, context, options } = given;
  const refusal = (message: string) =>
    fail({ exitCode: EXIT_CODE.refused, message: `could not detach run ${runId}: ${message}` });
  if (endedAt !== undefined) return refusal(`it has ended: ${status}`);
  const mark = await readServerMark(runDirectory(home, runId));
  if (mark?.state === 'ordering') return refusal(describeServer(mark)!);
  if (mark !== undefined) {
    const { service: url, runUrl: page } = mark;
    return ok({ runId, to: 'server', url, ...(page !== undefined && { page }) });
  }
  const fault = findHostFault(home);
  if (fault !== undefined) return refusal(fault);
  let before: Awaited<ReturnType<typeof readMark>>;
  // Marked first: if this process is killed, the next host resumes the run.
  try {
    before = await readMark(home, runId);
    await markHosted(home, runId, { options: selectHostedOptions(options, context) });
  } catch (error) {
    return refusal(`${describeSystemError(error)}; nothing has changed`);
  }
  const left = await detachRun({ home, runId });
  if (!left.ok) {
    await (before ? markHosted(home, runId, before) : unmarkHosted(home, runId));
    return fail(fromRunRefusal(left.error, { options, runId }));
  }
  return hostRun(given);
}
