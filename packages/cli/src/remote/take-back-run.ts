import { fail, ok, type Result } from '@sluice/core';
import { readServerMark, runDirectory, writeServerMark } from '@sluice/home';
import { unmarkHosted } from '@sluice/host';
import { openJournalMirror } from '@sluice/runner';
import type { FileDigest, HandOverServer, JournalSource } from '../connect/run-server.ts';
import { lockMark } from './lock-mark.ts';
import { describeLostRun } from './lost-run.ts';
import { recordRemoval } from './record-removal.ts';

/** A run that a server executes, or perhaps executes. */
export interface TakeBackOptions {
  readonly home: string;
  readonly runId: string;
  readonly server: Pick<HandOverServer, 'release'> & Pick<JournalSource, 'readJournal'>;
  /** Called if the server does not have a run that it had started: why the copy of this home must not be continued. */
  readonly findCopyFault: () => Promise<string | undefined>;
}

/**
 * Has the server stop executing a run, copies the rest of its journal, and only then allows its execution here. It can be
 * repeated after a crash at any point: until the last step no process of this home executes the run, and after the first
 * one the server does not either. A run that has ended there keeps its mark: its outputs are still to be published.
 */
export function takeBackRun({ home, runId, server, findCopyFault }: TakeBackOptions): Promise<Result<void, string>> {
  const directory = runDirectory(home, runId);
  return lockMark(directory, async () => {
    const mark = await readServerMark(directory);
    if (mark === undefined || mark.state === 'released') return ok(undefined);
    if (!mark.isOurs) return fail('another home has handed it over, and only that one can take it back');
    let journal: FileDigest | undefined;
    let hasEnded = false;
    try {
      journal = await server.release(runId);
    } catch (error) {
      if (await recordRemoval(home, runId, error)) return fail((error as Error).message);
      throw error;
    }
    if (journal === undefined && mark.state === 'hosted') {
      const fault = await findCopyFault();
      if (fault !== undefined) return fail(`${describeLostRun(mark.service)}; ${fault}`);
    }
    if (journal !== undefined) {
      const mirror = await openJournalMirror(directory);
      const copied = await mirror.update((offset) => server.readJournal(runId, offset));
      if (!copied.ok) return copied;
      if (mirror.size !== journal.size || mirror.digest() !== journal.sha256) {
        return fail(`its journal was not copied completely: ${mirror.size} of ${journal.size} bytes; try again`);
      }
      hasEnded = mirror.hasEnded;
    }
    await unmarkHosted(home, runId);
    await writeServerMark(directory, { ...mark, state: hasEnded ? 'hosted' : 'released' });
    return ok(undefined);
  });
}
