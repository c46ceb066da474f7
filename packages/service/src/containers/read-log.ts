import { statSync } from 'node:fs';
import { followCuts, type LogCuts } from '../engines/limit-log.ts';
import type { StorageAccess } from '../storage/storage-access.ts';
import type { LogNotifier } from './log-notifier.ts';
import { readBlock } from './read-block.ts';

/** Which part of a log to read, and how. */
export interface LogOptions {
  /** The number of last lines to read. Default: all. */
  readonly tail?: number | undefined;
  /** The first byte to read, instead of `tail`. */
  readonly start?: number | undefined;
  /** The byte to end before. */
  readonly end?: number | undefined;
  readonly follow?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Reuses the memory of a block for the next one, so the reader must be done with a block when it requests the next. New
   * memory for each block would cost more than everything else.
   */
  readonly reuse?: boolean | undefined;
}

/** The location of a log. */
export interface LogPlace {
  readonly path: string;
  /** Its storage. While that does not answer, reading ends with an error instead of blocking the service. */
  readonly access: StorageAccess;
}

/** The container that writes a followed log. */
export interface LogWriter {
  isLive(): boolean;
  /** Calls `listener` when it has ended, unless the returned function is called first. */
  onEnd(listener: () => void): () => void;
  /** Shared by all followers of the cluster's logs. */
  readonly notifier: LogNotifier;
}

const BLOCK_BYTES = 64 * 1024;
/** Used after `SHOWN_BYTES`, when the reader has provably read more than the connection's buffers. Costs less per byte. */
const LARGE_BLOCK_BYTES = 512 * 1024;
const SHOWN_BYTES = 8 * 1024 * 1024;

/**
 * Yields the bytes of a log in blocks, each read on demand, so a slow reader uses the memory of one block. With `follow` it
 * continues until the container has ended and everything has been read. When the signal is aborted it returns early, without
 * an error; the caller must not treat that as the end of the log. A reader that is beyond the place where the log is cut to
 * its limit continues at that place: with the line that says so, and the end that was kept, even if it has seen some of it.
 */
export async function* readLog(place: LogPlace, options: LogOptions, writer?: LogWriter): AsyncGenerator<Uint8Array> {
  const cuts = followCuts(place.path);
  try {
    yield* readWithCuts({ ...place, cuts }, options, writer);
  } finally {
    cuts.stop();
  }
}

async function* readWithCuts(
  { path, access, cuts }: LogPlace & { readonly cuts: LogCuts },
  options: LogOptions,
  writer: LogWriter | undefined,
): AsyncGenerator<Uint8Array> {
  const { signal, reuse } = options;
  let position: number | undefined;
  let given = 0;
  const isCut = () => options.end === undefined && cuts.isStale();
  while (!isAborted(signal)) {
    // Checked before reading: after the end is known, everything that was written can be read.
    const follows = options.follow === true && writer?.isLive() === true;
    const fault = await access.fault();
    if (fault !== undefined) throw new Error(`could not read the log: ${fault}`);
    // Bytes up to a given end are those of the file as it is.
    const replaced = options.end === undefined ? await cuts.settled() : undefined;
    if (position !== undefined && replaced !== undefined) position = Math.min(position, replaced);
    // A synchronous call is the cheapest for thousands of followers, and none of them keeps the file open.
    const size = Math.min(logSize(path), options.end ?? Infinity);
    if (position === undefined) {
      position =
        options.tail === undefined
          ? (options.start ?? 0)
          : await tailStart({ path, access }, { lines: options.tail, size, signal });
    }
    // The file may have been truncated by the container.
    position = Math.min(position, size);
    let memory: Buffer | undefined;
    while (position < size) {
      const length = Math.min(given < SHOWN_BYTES ? BLOCK_BYTES : LARGE_BLOCK_BYTES, size - position);
      if (!reuse || memory === undefined || memory.length < length) memory = Buffer.allocUnsafeSlow(length);
      const block = isAborted(signal) ? undefined : await readBlock({ path, access }, position, memory);
      // Without a block, the container and its log have been deleted.
      if (block === undefined) return;
      if (block.length === 0 || isCut()) break;
      position += block.length;
      given += block.length;
      yield block;
    }
    memory = undefined;
    if (isCut()) continue;
    if (!follows || position === options.end) return;
    // Checked again, because events during the reads are not reported later.
    if (writer.isLive() && !isAborted(signal)) await growth(path, { size: position, writer, signal, cuts });
  }
}

/** In bytes; 0 if nothing was written. */
export function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** Resolves when the file has grown beyond `size` or is cut, at the container's end, or when the signal is aborted. */
function growth(
  path: string,
  { size, writer, signal, cuts }: { size: number; writer: LogWriter; signal: AbortSignal | undefined; cuts: LogCuts },
) {
  return new Promise<void>((resolve) => {
    const done = () => {
      stopPolling();
      forget();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const stopPolling = writer.notifier.add(path, size, done);
    const forget = writer.onEnd(done);
    cuts.onCut = done;
    signal?.addEventListener('abort', done);
  });
}

/** The offset of the last `lines` lines, searched in blocks from the end. A newline at the end of the file starts no line. */
async function tailStart(
  place: LogPlace,
  { lines, size, signal }: { lines: number; size: number; signal: AbortSignal | undefined },
): Promise<number> {
  if (lines === 0) return size;
  let missing = lines;
  for (let end = size; end > 0 && !isAborted(signal); ) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const block = (await readBlock(place, start, Buffer.allocUnsafe(end - start))) ?? NOTHING;
    for (let at = block.lastIndexOf(10); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(10, at - 1)) {
      if (start + at === size - 1) continue;
      missing--;
      if (missing === 0) return start + at + 1;
    }
    end = start;
  }
  return 0;
}

const NOTHING = Buffer.alloc(0);
