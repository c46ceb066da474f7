import { isServiceError } from '@sluice/client';
import type { GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { suggestCommand } from '../context/suggest-command.ts';

/** Whether an error says that the server does not have the run. */
export function isLostRun(error: unknown): boolean {
  return isServiceError(error, 'NOT_FOUND') && error.reason === 'RUN_NOT_FOUND';
}

/** What has happened to a run that its server does not have any more. */
export function describeLostRun(url: string): string {
  return `${url} does not have the run that it had started: the server has lost it, or another server has this address`;
}

/** Why a command about a run ends whose server does not have it any more. */
export function lostRunError(
  fault: string,
  { url, runId }: { readonly url: string; readonly runId: string },
  options: GlobalOptions,
): CommandError {
  const again = suggestCommand(['rerun', runId], options);
  return { exitCode: EXIT_CODE.suspended, message: `${fault}: ${describeLostRun(url)}; start it again with: ${again}` };
}
