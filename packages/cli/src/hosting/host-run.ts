import { fail, ok, type Result } from '@sluice/core';
import { moveRun } from '@sluice/home';
import { selectHostedOptions } from '../connect/hosted-options.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import type { HandedRun, RunToHand } from '../runs/handed-run.ts';
import { handToHost } from './hand-to-host.ts';

/** Marks a recorded run, so that every later host of the home resumes it with the service of the options. */
export async function markRecorded({
  home,
  runId,
  context,
  options,
}: RunToHand): Promise<Result<undefined, CommandError>> {
  try {
    const moved = await moveRun({ home, runId }, 'detach', { options: { ...selectHostedOptions(options, context) } });
    if (moved.ok) return ok(undefined);
    throw new Error(moved.error);
  } catch (error) {
    const resume = suggestCommand(['resume', runId], options);
    const message = `could not mark run ${runId} as detached: ${describeSystemError(error)}; it is suspended: continue it with: ${resume}`;
    return fail({ exitCode: EXIT_CODE.suspended, message });
  }
}

/** Hands a marked run to the home's host. The error says that the next host of the home continues it. */
export async function hostRun({ home, ...given }: RunToHand): Promise<Result<HandedRun, CommandError>> {
  const { runId, options } = given;
  const handed = await handToHost(home, given);
  if (handed.ok) {
    return ok(handed.value === undefined ? { runId, to: 'none' } : { runId, to: 'host', pid: handed.value.pid });
  }
  const resume = suggestCommand(['resume', runId], options);
  const message = `could not hand run ${runId} to a host: ${handed.error}; the next process that hosts the runs of the home continues it; continue it now with: ${resume}`;
  return fail({ exitCode: EXIT_CODE.suspended, message });
}
