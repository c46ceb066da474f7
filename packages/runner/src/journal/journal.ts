import { isSystemError } from '@sluice/host-system';
import type { AppendFile } from './disk.ts';
import { JournalFailure } from './journal-failure.ts';
import { encodeLine } from './journal-line.ts';
import type { JournalRecord } from './journal-record.ts';

/** The end of an open journal. */
export interface Journal {
  /** Adds a record to what the next commit makes durable. */
  append(record: JournalRecord): void;
  /** Resolves when every record appended so far is durable; throws `JournalFailure`, from then on for ever. */
  commit(): Promise<void>;
  /**
   * Resolves when every record appended so far is written: it outlives this process, but perhaps not the machine. For
   * what a resume would learn again.
   */
  write(): Promise<void>;
  /** Commits what is left, as far as it still can be, and closes the file. */
  close(): Promise<void>;
}

export interface JournalStart {
  readonly seq: number;
  readonly epoch: number;
  /** Whether this opening is still the newest: asked before each write. */
  readonly isNewest: () => boolean;
}

/** Records that are written together. */
interface Group {
  readonly records: JournalRecord[];
  /** Somebody waits for it to be durable. */
  isSynced: boolean;
  readonly done: Promise<void>;
  readonly settle: (failure?: JournalFailure) => void;
}

/**
 * Group commit without a timer: one sync is in flight at a time, and all that came meanwhile is written together
 * afterwards, and synced where somebody waits for that. A write or sync that failed is never repeated: what the disk holds then is unknown.
 */
export function createJournal(file: AppendFile, start: JournalStart): Journal {
  let seq = start.seq;
  /** The last record that is known to be durable. */
  let synced = start.seq;
  let next: Group | undefined;
  let inFlight: Group | undefined;
  let failure: JournalFailure | undefined;

  async function flush(): Promise<void> {
    while (next && !failure) {
      inFlight = next;
      next = undefined;
      failure = writeGroup(inFlight.records) ?? (inFlight.isSynced ? await sync() : undefined);
      inFlight.settle(failure);
    }
    inFlight = undefined;
    if (failure) next?.settle(failure);
  }

  function writeGroup(records: readonly JournalRecord[]): JournalFailure | undefined {
    const first = synced + 1;
    try {
      if (!start.isNewest()) {
        return new JournalFailure('SUPERSEDED', 'could not write the journal: another runner has resumed the run');
      }
      const lines = records.map((record) => encodeLine({ seq: ++seq, first, epoch: start.epoch, record }));
      file.write(Buffer.from(lines.join('')));
      return undefined;
    } catch (cause) {
      return new JournalFailure(isFull(cause) ? 'DISK_FULL' : 'WRITE_FAILED', describe('write', cause), cause);
    }
  }

  async function sync(): Promise<JournalFailure | undefined> {
    try {
      await file.sync();
      synced = seq;
      return undefined;
    } catch (cause) {
      return new JournalFailure(isFull(cause) ? 'DISK_FULL' : 'SYNC_FAILED', describe('sync', cause), cause);
    }
  }

  function commit(): Promise<void> {
    if (failure) return Promise.reject(failure);
    if (!next && (inFlight || synced === seq)) return inFlight?.done ?? Promise.resolve();
    next ??= createGroup();
    next.isSynced = true;
    return write();
  }

  function write(): Promise<void> {
    if (failure) return Promise.reject(failure);
    if (!next) return inFlight?.done ?? Promise.resolve();
    const { done } = next;
    if (!inFlight) void flush();
    return done;
  }

  return {
    append(record) {
      next ??= createGroup();
      next.records.push(record);
    },
    commit,
    write,
    async close() {
      await commit().catch(() => {});
      await file.close();
    },
  };
}

function createGroup(): Group {
  let settle: Group['settle'] = () => {};
  const done = new Promise<void>((resolve, reject) => {
    settle = (failure) => (failure ? reject(failure) : resolve());
  });
  // Whoever waits for the group hears of its failure; a group that nobody waits for must not end the process.
  done.catch(() => {});
  return { records: [], isSynced: false, done, settle };
}

function isFull(cause: unknown): boolean {
  return isSystemError(cause, 'ENOSPC', 'EDQUOT');
}

function describe(action: 'write' | 'sync', cause: unknown): string {
  return `could not ${action} the journal: ${cause instanceof Error ? cause.message : String(cause)}`;
}
