import { ok, type Result } from '@sluice/core';
import {
  createSystemDisk,
  hasPlan,
  type JournalMirror,
  moveRun,
  openJournalMirror,
  placeOf,
  readCustody,
  runCustody,
  runDirectory,
  type ServerPlace,
  storePlan,
} from '@sluice/home';
import type { JournalSource } from '../connect/run-server.ts';
import { lockCopy } from './lock-copy.ts';
import { recordRemoval } from './record-removal.ts';

/** A run of this home whose journal is copied from its server. */
export interface MirrorOptions {
  readonly home: string;
  readonly runId: string;
  readonly server: JournalSource;
}

/**
 * Brings the copy of a run up to date. Does nothing if no server executes the run, or if it has ended. A run that the server
 * has counts as ordered from then on.
 */
export async function updateMirror(
  { home, runId, server }: MirrorOptions,
  known?: JournalMirror,
): Promise<Result<void, string>> {
  const directory = runDirectory(home, runId);
  return lockCopy(directory, async () => {
    const custody = await readCustody(runCustody(home, runId));
    if (placeOf(custody) === undefined) return ok(undefined);
    const mirror = known ?? (await openJournalMirror(directory));
    if (mirror.hasEnded) return ok(undefined);
    try {
      if (!(await hasPlan(createSystemDisk(), directory))) await storePlan(directory, await server.readPlan(runId));
      const updated = await mirror.update((offset) => server.readJournal(runId, offset));
      if (updated.ok && custody.state === 'ordering') await moveRun({ home, runId }, 'accept');
      return updated;
    } catch (error) {
      await recordRemoval(home, runId, error);
      throw error;
    }
  });
}

/**
 * Copies a run that another home, or the server itself, has ordered. Its custody comes first, so that no process executes an
 * incomplete copy.
 */
export async function createMirror(
  options: MirrorOptions,
  place: Omit<ServerPlace, 'publish'>,
): Promise<Result<void, string>> {
  const { home, runId, server } = options;
  const directory = runDirectory(home, runId);
  const plan = await server.readPlan(runId);
  await lockCopy(directory, async () => {
    if ((await readCustody(runCustody(home, runId))).state !== 'free') return;
    await moveRun({ home, runId }, 'copy', { place });
    await storePlan(directory, plan);
  });
  return updateMirror(options);
}
