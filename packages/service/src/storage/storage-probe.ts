import { randomFill } from 'node:crypto';
import { type DiskAmount, readFreeSpace } from '@sluice/host-system';
import { createThreadLimit, type StorageAccess } from './storage-access.ts';

/** How long a storage may take to answer. A network storage may be slow, but a request should not wait longer. */
const DEADLINE_MS = 2000;

/** How long all threads may be in use before a storage counts as silent, since other storages may occupy them forever. */
const BUSY_MS = 30_000;

/** Why a storage cannot be used, as the end of a sentence with "because". */
const SILENT_STORAGE = 'its storage does not answer';

/**
 * Asks a storage in a thread: a call to a dead network storage may never return, and a synchronous one would stop the
 * service for all clusters. At most one question is open, so a dead storage occupies one thread.
 */
export interface StorageProbe extends StorageAccess {
  /**
   * The number of files that can be created now, whatever their size. Infinity if the file system has no limit (Btrfs and
   * others report 0 in total) or reports an error; undefined if the storage does not answer.
   */
  freeInodes(): Promise<number | undefined>;
  /** Whether programs can store nothing more: no bytes or no inodes are free. False if the storage does not tell. */
  isFull(): Promise<boolean>;
}

const UNLIMITED: DiskAmount = { bytes: Number.POSITIVE_INFINITY, inodes: Number.POSITIVE_INFINITY };

/** More than is released on a full disk before it is asked: by a home, by the store, and by the end of a container. */
const FULL: DiskAmount = { bytes: 2 * 1024 * 1024, inodes: 100 };

/** Asks nothing yet. */
export function createStorageProbe(storage: string): StorageProbe {
  let question: Promise<DiskAmount | undefined> | undefined;
  const ask = () => {
    if (question !== undefined) return question;
    const answer = readFreeSpace(storage).catch(() => UNLIMITED);
    // Until the answer all further callers get this one, as each of them would occupy a thread.
    const asked = unlessSilent(answer);
    question = asked;
    void answer.then(() => {
      question = undefined;
    });
    return asked;
  };
  return {
    inThread: createThreadLimit(),
    freeInodes: async () => (await ask())?.inodes,
    fault: async () => ((await ask()) === undefined ? SILENT_STORAGE : undefined),
    async isFull() {
      const { bytes, inodes } = (await ask()) ?? UNLIMITED;
      return bytes < FULL.bytes || inodes < FULL.inodes;
    },
  };
}

/**
 * What `answer` resolves to; undefined if it takes too long. The time while all threads are in use does not count: the
 * question may not have begun. It has begun if a later one has ended, since they begin in order.
 */
async function unlessSilent<T>(answer: Promise<T>): Promise<T | undefined> {
  const within = (ms: number, ...others: readonly Promise<undefined>[]) => {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, ms, undefined);
    });
    return Promise.race([answer, deadline, ...others]).finally(() => clearTimeout(timer));
  };
  const early = await within(DEADLINE_MS / 2);
  if (early !== undefined) return early;
  const later = new Promise<undefined>((resolve) => randomFill(Buffer.alloc(1), () => resolve(undefined)));
  return (await within(BUSY_MS, later)) ?? within(DEADLINE_MS / 2);
}
