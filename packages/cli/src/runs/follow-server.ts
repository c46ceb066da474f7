import { setTimeout as delay } from 'node:timers/promises';
import { isServiceError } from '@sluice/client';
import { openJournalMirror, runDirectory } from '@sluice/home';
import type { RunServer } from '../connect/run-server.ts';
import { isLostRun } from './lost-run.ts';
import { type MirrorOptions, updateMirror } from './mirror-run.ts';
import { isRemoved } from './record-removal.ts';

const PAUSE_MS = 500;
/** While the server does not reply. */
const LONGEST_PAUSE_MS = 15_000;

type Followed = 'followed' | 'lost' | 'incomplete';

/** A run whose copy is kept up to date until `signal` is aborted, or the run has ended. */
export interface FollowServerOptions extends MirrorOptions {
  readonly server: RunServer;
  readonly signal: AbortSignal;
  /** Called when the server cannot be read; it is tried again. Once for each time without a connection. */
  readonly onProblem: (message: string) => void;
}

/**
 * Copies what the server writes, soon after it is written. A server that does not reply is tried again. `lost`: it does not
 * have the run; `incomplete`: the rest cannot be copied.
 */
export async function followServer(options: FollowServerOptions): Promise<Followed> {
  const { home, runId, server, signal, onProblem } = options;
  const directory = runDirectory(home, runId);
  const mirror = await openJournalMirror(directory);
  const read = (offset: number) => server.readJournal(runId, offset, signal);
  for (let failures = 0; !signal.aborted && !mirror.hasEnded; ) {
    try {
      if (await mirror.isBehind(read)) {
        const updated = await updateMirror({ home, runId, server }, mirror);
        if (!updated.ok) throw new Error(updated.error);
      }
      failures = 0;
    } catch (error) {
      if (signal.aborted) return 'followed';
      if (isLostRun(error)) return 'lost';
      failures++;
      if (failures === 1) onProblem((error as Error).message);
      if (!isServiceError(error) || isRemoved(error)) return 'incomplete';
    }
    const pauseMs = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** Math.min(failures, 6));
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
  return 'followed';
}
