import { ok, type Result } from '@sluice/core';
import { readServerMark, runDirectory, type ServerMark, writeServerMark } from '@sluice/home';
import { type JournalMirror, openJournalMirror, writePlanBytes } from '@sluice/runner';
import type { JournalSource } from '../connect/run-server.ts';
import { lockMark } from './lock-mark.ts';
import { recordRemoval } from './record-removal.ts';

/** A run of this home whose journal is copied from its server. */
export interface MirrorOptions {
  readonly home: string;
  readonly runId: string;
  readonly server: JournalSource;
}

/**
 * Brings the copy of a run up to date. Does nothing if the server does not execute it, or if it has ended. A copy of another
 * home's run is marked if that home has taken the run back: nothing more is copied until it is handed over again.
 */
export async function updateMirror(
  { home, runId, server }: MirrorOptions,
  known?: JournalMirror,
): Promise<Result<void, string>> {
  const directory = runDirectory(home, runId);
  return lockMark(directory, async () => {
    const mark = await readServerMark(directory);
    if (mark?.state !== 'hosted' && mark?.state !== 'taken-back') return ok(undefined);
    const mirror = known ?? (await openJournalMirror(directory));
    if (mirror.hasEnded) return ok(undefined);
    try {
      const updated = await mirror.update((offset) => server.readJournal(runId, offset));
      if (!updated.ok || mirror.hasEnded || mark.isOurs) return updated;
      const state = (await server.isReleased(runId)) ? 'taken-back' : 'hosted';
      if (state !== mark.state) await writeServerMark(directory, { ...mark, state });
      return updated;
    } catch (error) {
      await recordRemoval(home, runId, error);
      throw error;
    }
  });
}

/**
 * Copies a run that another home, or the server itself, has started. It cannot be taken back. The mark comes first, so that
 * no process executes an incomplete copy.
 */
export async function createMirror(
  options: MirrorOptions,
  mark: Omit<ServerMark, 'state' | 'isOurs'>,
): Promise<Result<void, string>> {
  const { home, runId, server } = options;
  const directory = runDirectory(home, runId);
  const plan = await server.readPlan(runId);
  await lockMark(directory, async () => {
    if ((await readServerMark(directory)) !== undefined) return;
    await writeServerMark(directory, { ...mark, state: 'hosted', isOurs: false });
    await writePlanBytes(directory, plan);
  });
  return updateMirror(options);
}
