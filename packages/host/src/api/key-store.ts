import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunId } from '@sluice/home';
import { isSystemError, replaceFile } from '@sluice/host-system';
import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';

const DAY_MS = 86_400_000;
/** Each takes an inode and a block of the disk, which the limits of an account do not count. */
export const MAX_KEYS = 1000;
/** Old keys are searched at most this often: that reads the metadata of all. */
const SEARCH_MS = 60_000;

const storedKey = z.strictObject({
  request: z.string().length(64),
  /** Of the run that the request starts, if it does. */
  runId: z.string().refine(isRunId),
  reply: z.unknown().optional(),
});

/** What is stored for an `Idempotency-Key`. Without `reply`, no request with the key has succeeded yet. */
export type StoredKey = z.infer<typeof storedKey>;

/** The keys of a home, by the name of a file. */
export interface KeyStore {
  /** Requests with a key that are in progress. */
  readonly inProgress: Map<string, Promise<unknown>>;
  /** Undefined: the key was not used within a day. */
  read(name: string): Promise<StoredKey | undefined>;
  /** Throws `ApiError` for a new key if the home has too many. */
  write(name: string, value: StoredKey): Promise<void>;
  forget(name: string): Promise<void>;
}

/** Reads nothing until the first request with a key. `now` is the time by which keys are forgotten. */
export function openKeyStore(home: string, now: () => number): KeyStore {
  const directory = join(home, 'host', 'replies');
  /** One is added after the other: otherwise several requests would count the same keys, and all be accepted. */
  let last: Promise<void> = Promise.resolve();
  let searchedAt = Number.NEGATIVE_INFINITY;

  async function removeOld(): Promise<void> {
    if (performance.now() - searchedAt < SEARCH_MS) return;
    searchedAt = performance.now();
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      const found = await stat(path).catch(() => undefined);
      if (found !== undefined && now() - found.mtimeMs > DAY_MS) await rm(path, { force: true });
    }
  }

  async function add(name: string, value: StoredKey): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await removeOld();
    const names = await readdir(directory);
    if (names.length >= MAX_KEYS && !names.includes(name)) throw describeFull();
    const path = join(directory, name);
    await replaceFile(path, Buffer.from(JSON.stringify(value)));
    // The time of a file system follows a clock that was set wrongly.
    await utimes(path, now() / 1000, now() / 1000);
  }

  return {
    inProgress: new Map(),
    async read(name) {
      const path = join(directory, name);
      try {
        const { mtimeMs } = await stat(path);
        return now() - mtimeMs > DAY_MS ? undefined : storedKey.parse(JSON.parse(await readFile(path, 'utf8')));
      } catch (error) {
        if (isSystemError(error, 'ENOENT')) return undefined;
        throw error;
      }
    },
    write(name, value) {
      const written = last.then(() => add(name, value));
      last = written.catch(() => {});
      return written;
    },
    forget: (name) => rm(join(directory, name), { force: true }),
  };
}

function describeFull(): ApiError {
  const message = `could not use the Idempotency-Key: ${MAX_KEYS} keys were used within a day; send the request without one`;
  return new ApiError(429, 'QUOTA_EXCEEDED', message).retryAfter(SEARCH_MS);
}
