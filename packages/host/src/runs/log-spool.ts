import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogReading, type LogCut, type Ref } from '@sluice/client';
import { ApiError } from '../errors/api-error.ts';
import type { ReadableFile } from './read-files.ts';

/** Logs that are kept as local copies. */
const KEPT = 32;
const BLOCK_BYTES = 1 << 18;
/** The log of a running container is not read again more often. */
const FRESH_MS = 1_000;

/** How to read a log from its beginning to its present end, and whether it can still grow. */
export interface LogSource {
  readonly ref: Ref;
  readonly hasEnded: boolean;
  /** `onCut` is that of `Containers.logs`. */
  read(onCut: (cut: LogCut | undefined) => void): AsyncIterable<Uint8Array>;
}

/** A local copy of a log. */
export interface LogCopy extends ReadableFile {
  /** The last cut of the log when it was copied, if the service says that. */
  readonly cut: LogCut | undefined;
}

/** Local copies of logs, for services that send a log from its beginning only: readers jump in logs of gigabytes. */
export interface LogSpool {
  /** The log as it is now. Throws what `read` throws. */
  open(source: LogSource): Promise<LogCopy>;
  /** Removes all copies. */
  close(): Promise<void>;
}

interface Copy {
  readonly path: string;
  size: number;
  cut: LogCut | undefined;
  readAt: number;
  isComplete: boolean;
  reading: Promise<void> | undefined;
}

/** Writes nothing until the first log. */
export function openLogSpool(): LogSpool {
  const copies = new Map<string, Copy>();
  let directory: Promise<string> | undefined;
  let count = 0;

  async function copyOf({ ref }: LogSource): Promise<Copy> {
    const key = JSON.stringify([ref.clusterID, ref.accountID, ref.id]);
    directory ??= mkdtemp(join(tmpdir(), 'sluice-logs-'));
    const root = await directory;
    const copy = copies.get(key) ?? {
      ...{ path: join(root, String(count++)), size: 0, cut: undefined, readAt: 0 },
      ...{ isComplete: false, reading: undefined },
    };
    copies.delete(key);
    copies.set(key, copy);
    for (const [oldest, { path, reading }] of copies) {
      if (copies.size <= KEPT) break;
      if (reading) continue;
      copies.delete(oldest);
      await rm(path, { force: true });
    }
    return copy;
  }

  return {
    async open(source) {
      const copy = await copyOf(source);
      const isFresh = copy.readAt > 0 && performance.now() - copy.readAt < FRESH_MS && !source.hasEnded;
      if (!copy.isComplete && !isFresh) {
        copy.reading ??= extend(copy, source).finally(() => {
          copy.reading = undefined;
        });
        await copy.reading;
      }
      const { path, size, cut } = copy;
      return { name: `${source.ref.id}.log`, size, cut, read: (range) => readRange(path, range) };
    },
    async close() {
      if (directory !== undefined) await rm(await directory, { recursive: true, force: true });
      copies.clear();
      directory = undefined;
    },
  };
}

/** Appends what the log has beyond the copy. If the service has cut it since, what follows the cut replaces the copy of it. */
async function extend(copy: Copy, source: LogSource): Promise<void> {
  const file = await open(copy.path, 'a', 0o600);
  try {
    const reading = createLogReading(copy);
    for await (const block of source.read((cut) => reading.note(cut))) {
      if (reading.size < copy.size) await file.truncate(reading.size);
      const rest = reading.take(block);
      if (rest.length > 0) await file.appendFile(rest);
      copy.size = reading.size;
      copy.cut = reading.cut;
    }
    copy.readAt = performance.now();
    copy.isComplete = source.hasEnded;
  } finally {
    await file.close();
  }
}

async function* readRange(
  path: string,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncIterable<Uint8Array> {
  const file = await open(path);
  try {
    for (let at = start; at < end; ) {
      const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, end - at));
      const { bytesRead } = await file.read(block, 0, block.length, at);
      if (bytesRead === 0) throw new ApiError(503, 'UNAVAILABLE', 'the copy of the log is shorter than expected');
      yield block.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}
