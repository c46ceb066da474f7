import { setImmediate as yieldToLoop } from 'node:timers/promises';
import { within } from './within.ts';

/** How calls are made to a storage that may stop answering at any moment. */
export interface StorageAccess {
  /** Resolves to why the storage cannot be used now; undefined if it answers. Await it directly before synchronous calls. */
  fault(): Promise<string | undefined>;
  /**
   * Runs calls that wait in a thread until the storage answers. At most a few run at the same time, so that a storage that
   * does not answer leaves threads for the others; further ones wait in order.
   */
  inThread<T>(calls: () => Promise<T>): Promise<T>;
}

/** A storage does not answer; `code` is an errno name, as in errors of `node:fs`. */
export class StorageSilent extends Error {
  override readonly name = 'StorageSilent';
  readonly code = 'ETIMEDOUT';
}

/** A directory on this machine that always answers, for tests and for callers who do not share the process. */
export const LOCAL_STORAGE: StorageAccess = { fault: async () => undefined, inThread: (calls) => calls() };

/** Throws `StorageSilent` if the storage does not answer. Await it directly before synchronous calls. */
export async function checkAnswer(storage: Pick<StorageAccess, 'fault'>): Promise<void> {
  const fault = await storage.fault();
  if (fault !== undefined) throw new StorageSilent(fault);
}

/** How often a waiting caller of `tryInThread` asks whether the storage still answers. */
const ASK_AGAIN_MS = 1000;

/**
 * `inThread` for callers who must not wait for a storage that does not answer: throws `StorageSilent` then, also if it stops
 * answering meanwhile. Calls that have begun may still take effect when the storage answers again.
 */
export async function tryInThread<T>(storage: StorageAccess, calls: () => Promise<T>): Promise<T> {
  await checkAnswer(storage);
  let isGivenUp = false;
  const result = storage.inThread(async () => {
    if (isGivenUp) throw new StorageSilent('its storage did not answer');
    return [await calls()] as const;
  });
  try {
    for (;;) {
      const done = await within(ASK_AGAIN_MS, result);
      if (done !== undefined) return done[0];
      await checkAnswer(storage);
    }
  } finally {
    isGivenUp = true;
    result.catch(() => {});
  }
}

/** The longest time of synchronous calls to a storage without another check that it answers. */
const TURN_MS = 5;

/**
 * Returns a function to await before each step of long synchronous work in a storage. It lets other work run once the share
 * of a turn of the event loop is used up, also by waiting elsewhere, and then throws `StorageSilent` if the storage does not
 * answer. The first step needs a check before.
 */
export function createStoragePacer(storage: StorageAccess): () => Promise<void> | undefined {
  let until = performance.now() + TURN_MS;
  const nextTurn = async () => {
    await yieldToLoop();
    await checkAnswer(storage);
    until = performance.now() + TURN_MS;
  };
  return () => (performance.now() < until ? undefined : nextTurn());
}

/** Node.js has four threads for files unless this variable says otherwise. */
const threads = Number(process.env.UV_THREADPOOL_SIZE) || 4;

/** With the question whether it answers, a storage occupies three of four threads, or four of more. */
const MAX_CALLS = threads < 8 ? 2 : 3;

/** Creates `StorageAccess.inThread` for one storage. */
export function createThreadLimit(): StorageAccess['inThread'] {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (calls) => {
    if (running >= MAX_CALLS) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await calls();
    } finally {
      // Passed directly to the longest waiting call, so that no newer call takes it.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
