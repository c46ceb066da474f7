import { isServiceError } from '@sluice/client';
import type { RunServer } from '../connect/run-server.ts';

/** Has the server delete a run that it has executed. Returns why the run stays; a run that the server does not have does not. */
export async function deleteOnServer(
  server: Pick<RunServer, 'delete'> | undefined,
  runId: string,
): Promise<string | undefined> {
  if (server === undefined) return `could not delete run ${runId} on its server: the service executes no runs`;
  try {
    await server.delete(runId);
    return undefined;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return error.message;
  }
}
