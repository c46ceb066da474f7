import { isServiceError } from '@sluice/client';
import { fail, ok, own, SluiceError } from '@sluice/core';
import type { RunErrorCode } from '@sluice/run';
import { attempt, unwrap } from './error-code.ts';
import type { FoundRun } from './find-run.ts';
import { openServerOf, type ServerRun } from './open-server-of.ts';

/** Reasons with which a server rejects an action, by the code of the same rejection at home. */
const CODES: Readonly<Record<string, RunErrorCode>> = {
  RUN_NOT_FOUND: 'RUN_NOT_FOUND',
  RUN_REMOVED: 'RUN_NOT_FOUND',
  RUN_FINISHED: 'RUN_FINISHED',
  STEP_NOT_FOUND: 'STEP_NOT_FOUND',
  NOT_ASKED: 'NOT_ASKED',
};

/** Whether a server executes the run, or has executed it. */
export function isOnServer(run: FoundRun): run is FoundRun & Pick<ServerRun, 'place'> {
  return run.place !== undefined;
}

/** Requests an action of the server of a run, which does it as soon as it can. Throws `SluiceError`. */
export async function actOnServer(
  run: ServerRun,
  verb: 'cancel' | 'approve' | 'reject',
  body?: { readonly step: string; readonly by?: string },
): Promise<void> {
  const { server, close } = await openServerOf(run, verb);
  const acted = await attempt(async () => {
    try {
      return ok(await server.act(run.runId, verb, body));
    } catch (error) {
      const code = isServiceError(error) ? own(CODES, error.reason ?? '') : undefined;
      if (code === undefined) throw error;
      return fail(new SluiceError(code, (error as Error).message, { cause: error }));
    }
  }).finally(close);
  unwrap(acted);
}
