import { isSystemError } from '@sluice/host-system';
import type { JournalRecord } from '@sluice/run';
import type { AppendFile } from './disk.ts';
import { JournalFailure } from './journal-failure.ts';
import { encodeLine } from './line-codec.ts';

/** A journal that is open for appending. */
export interface Journal {
  /** Adds a record, to be written with the next commit or write. */
  append(record: JournalRecord): void;
  /** Resolves when every record appended so far is durable. Throws `JournalFailure`; after the first, every call does. */
  commit(): Promise<void>;
  /**
   * Resolves when every record appended so far is written: it survives a crash of this process, but perhaps not of the
   * machine. For records that a resume can observe again.
   */
  write(): Promise<void>;
  /** Commits the remaining records unless the journal has failed, and closes the file. */
  close(): Promise<void>;
}

/** The state of the file when it was opened. */
export interface JournalStart {
  /** Of the last record in the file; 0 if it is empty. */
  readonly seq: number;
  readonly epoch: number;
  /** Why this opening must no longer write, for example because it is not the newest. Called before each write. */
  readonly findLoss: () => string | undefined;
}

/** Records that are written together. */
interface Group {
  readonly records: JournalRecord[];
  /** A caller waits until it is durable. */
  isSynced: boolean;
  readonly done: Promise<void>;
  readonly settle: (failure?: JournalFailure) => void;
}

/**
 * Group commit without a timer: one sync is in flight at a time. Records that are appended meanwhile are written
 * together afterwards, and synced if a caller waits for that. A write or sync that failed is never repeated, since it is
 * unknown what the disk holds then.
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
      let action: 'write' | 'sync' = 'write';
      try {
        const loss = start.findLoss();
        if (loss !== undefined) throw new JournalFailure('SUPERSEDED', `could not write the journal: ${loss}`);
        const first = synced + 1;
        const lines = inFlight.records.map((record) => encodeLine({ seq: ++seq, first, epoch: start.epoch, record }));
        file.write(Buffer.from(lines.join('')));
        action = 'sync';
        if (inFlight.isSynced) {
          await file.sync();
          synced = seq;
        }
      } catch (cause) {
        failure = cause instanceof JournalFailure ? cause : failureOf(action, cause);
      }
      inFlight.settle(failure);
    }
    inFlight = undefined;
    if (failure) next?.settle(failure);
  }

  function commit(): Promise<void> {
    // Without new records, an empty group is synced if earlier records were only written.
    if (!failure && (next || (!inFlight && synced !== seq))) {
      next ??= createGroup();
      next.isSynced = true;
    }
    return settle();
  }

  function settle(): Promise<void> {
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
    write: settle,
    close: () =>
      commit()
        .catch(() => {})
        .then(() => file.close()),
  };
}

function createGroup(): Group {
  let settle: Group['settle'] = () => {};
  const done = new Promise<void>((resolve, reject) => {
    settle = (failure) => (failure ? reject(failure) : resolve());
  });
  // The failure of a group without a waiting caller must not end the process as an unhandled rejection.
  done.catch(() => {});
  return { records: [], isSynced: false, done, settle };
}

function failureOf(action: 'write' | 'sync', cause: unknown): JournalFailure {
  const code = action === 'write' ? 'WRITE_FAILED' : 'SYNC_FAILED';
  const message = `could not ${action} the journal: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new JournalFailure(isSystemError(cause, 'ENOSPC', 'EDQUOT') ? 'DISK_FULL' : code, message, cause);
}
