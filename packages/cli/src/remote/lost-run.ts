import { isServiceError } from '@sluice/client';
import type { JournalSource } from '../connect/run-server.ts';
import type { GlobalOptions } from '../context/command-context.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { suggestCommand } from '../context/suggest-command.ts';

/** Whether an error says that the server does not have the run. */
export function isLostRun(error: unknown): boolean {
  return isServiceError(error, 'NOT_FOUND') && error.reason === 'RUN_NOT_FOUND';
}

/** Whether a server does not have a run that it had started. Throws `ServiceError`. */
export async function hasLostRun(server: JournalSource, runId: string): Promise<boolean> {
  try {
    // After its end: only whether there is a journal matters.
    await server.readJournal(runId, Number.MAX_SAFE_INTEGER);
    return false;
  } catch (error) {
    if (isLostRun(error)) return true;
    throw error;
  }
}

/** What has happened to a run that its server does not have any more. */
export function describeLostRun(url: string): string {
  return `${url} does not have the run that it had started: the server has lost it, or another server has this address`;
}

/** Why a command about a run ends whose server does not have it any more. `isOurs`: this home has handed the run over. */
export function lostRunRefusal(
  fault: string,
  { url, runId, isOurs }: { readonly url: string; readonly runId: string; readonly isOurs: boolean },
  options: GlobalOptions,
): CommandRefusal {
  const resume = isOurs ? `; continue it with: ${suggestCommand(['resume', runId], options)}` : '';
  return { exitCode: EXIT_CODE.suspended, message: `${fault}: ${describeLostRun(url)}${resume}` };
}
