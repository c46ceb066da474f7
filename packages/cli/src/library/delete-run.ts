import { SluiceError } from '@sluice/core';
import { deleteRuns } from '@sluice/runner';
import { deleteOnServer } from '../runs/delete-on-server.ts';
import { type MirrorOptions, updateMirror } from '../runs/mirror-run.ts';
import { readRunsElsewhere } from '../runs/read-runs-elsewhere.ts';
import { isRemoved } from '../runs/record-removal.ts';
import { isOnServer } from './act-on-server.ts';
import { type Connection, openAsCommand, runServerOf, type ServiceChoice } from './connection.ts';
import { attempt, unwrap } from './error-code.ts';
import { type FoundRun, findRun } from './find-run.ts';
import { openServerOf } from './open-server-of.ts';
import { createProgramContext } from './program-context.ts';
import { OPTIONS, readArgument, TEXT } from './read-options.ts';
import type { HomeOptions } from './runs.ts';

/** A run that was deleted. */
export interface DeletedRun {
  readonly runId: string;
  readonly pipeline: string;
  /** What its files and its data in volumes had. */
  readonly bytes: number;
}

/**
 * Deletes an ended run of the home or of the service's server, whatever its age: its records, logs and data in volumes.
 * Throws `SluiceError`: `RUN_KEPT` if it has not ended, has an output to be retained, or if another run reuses it, which the
 * message names.
 *
 * @example
 * ```ts
 * import { deleteRun } from 'sluice';
 *
 * const { bytes } = await deleteRun('3o75');
 * console.log(bytes, 'bytes are free');
 * ```
 */
export async function deleteRun(
  runId: string,
  options: HomeOptions & { readonly service?: Connection; readonly profile?: string } = {},
): Promise<DeletedRun> {
  readArgument('deleteRun: run', TEXT, runId);
  const choice = readArgument('deleteRun', OPTIONS.delete, options);
  const run = unwrap(await attempt(() => findRun(runId, choice)));
  const { opened, close } = await openFor(run, choice);
  return await deleteWith(opened, run).finally(close);
}

async function openFor(run: FoundRun, choice: ServiceChoice) {
  if (isOnServer(run)) return openServerOf({ ...choice, ...run }, 'delete');
  const { service, profile } = choice;
  if (service !== undefined) return { opened: service, close: async () => {} };
  const opened = unwrap(await attempt(() => openAsCommand({ home: choice.home, profile }, run.runId)));
  return { opened, close: () => opened.close() };
}

async function deleteWith(opened: Connection, run: FoundRun): Promise<DeletedRun> {
  const { home, runId, place } = run;
  const runServer = runServerOf(opened);
  const deleted = await attempt(async () => {
    if (runServer !== undefined && place !== undefined) await bringUpToDate({ home, runId, server: runServer });
    const asked = {
      opened: { home, ...(runServer && { runServer }) },
      context: createProgramContext(),
      options: { home },
    };
    return {
      ok: true,
      value: await deleteRuns({
        ...{ home, runIds: [runId], service: opened.service },
        readElsewhere: () => readRunsElsewhere(asked),
        ...(place && { removeElsewhere: (id: string) => deleteOnServer(runServer, id) }),
      }),
    };
  });
  const result = unwrap(deleted);
  const reason = result.ok ? result.value.problems[0] : result.error[0]?.reason;
  if (!result.ok || reason !== undefined) throw new SluiceError('RUN_KEPT', `could not delete run ${runId}: ${reason}`);
  const { pipeline = '', bytes = 0 } = result.value.freed[0] ?? {};
  return { runId, pipeline, bytes };
}

/** A run that its server has removed counts as ended from then on. */
async function bringUpToDate(mirror: MirrorOptions): Promise<void> {
  try {
    await updateMirror(mirror);
  } catch (error) {
    if (!isRemoved(error)) throw error;
  }
}
