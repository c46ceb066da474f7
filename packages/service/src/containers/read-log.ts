import { statSync } from 'node:fs';
import type { LogNotifier } from './log-notifier.ts';
import { readBlock } from './read-block.ts';

export interface LogOptions {
  /** So many last lines; the whole where absent. */
  readonly tail?: number | undefined;
  readonly follow?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Each block is given in the same memory: a reader that asks for the next has finished with the last. New memory for each costs more
   * than all else together.
   */
  readonly reuse?: boolean | undefined;
}

/** What a follower knows of the container that writes. */
export interface Life {
  isLive(): boolean;
  /** Calls `listener` once it has ended, until the returned function is called. */
  onEnd(listener: () => void): () => void;
  /** One for all followers. */
  readonly notifier: LogNotifier;
}

const BLOCK_BYTES = 64 * 1024;
/** For who has shown that they read: more than what lies in the connection's buffers has gone. Costs less per byte. */
const LARGE_BLOCK_BYTES = 512 * 1024;
const SHOWN_BYTES = 8 * 1024 * 1024;

/**
 * The bytes of a log, in blocks that are read when the reader asks for them: a slow reader holds one block, whatever
 * the size of the log. With `follow` it continues until the container has ended and all is given. Ends early,
 * without an error, when the signal is aborted: the caller that aborts must not take that for the end of the log.
 */
export async function* readLog(path: string, options: LogOptions, life?: Life): AsyncGenerator<Uint8Array> {
  const { signal, reuse } = options;
  let position: number | undefined;
  let given = 0;
  while (!isAborted(signal)) {
    // Asked before reading: what is written before the end is there to be read once the end is known.
    const follows = options.follow === true && life?.isLive() === true;
    // One synchronous system call, since thousands of followers may look; and none of them holds the file meanwhile.
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (position === undefined) {
      position = options.tail === undefined ? 0 : await tailStart(path, { lines: options.tail, size, signal });
    }
    // It has been cut to its limit: what was given is not given again.
    position = Math.min(position, size);
    let memory: Buffer | undefined;
    while (position < size) {
      const length = Math.min(given < SHOWN_BYTES ? BLOCK_BYTES : LARGE_BLOCK_BYTES, size - position);
      if (!reuse || memory === undefined || memory.length < length) memory = Buffer.allocUnsafeSlow(length);
      const block = isAborted(signal) ? undefined : await readBlock(path, position, memory);
      // Without a block the container was deleted, and its log with it.
      if (block === undefined) return;
      if (block.length === 0) break;
      position += block.length;
      given += block.length;
      yield block;
    }
    memory = undefined;
    if (!follows) return;
    // What has happened while the blocks were read is not told any more.
    if (life.isLive() && !isAborted(signal)) await growth(path, { size: position, life, signal });
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** Resolves when the file has grown beyond `size`, at the container's end, or when the signal is aborted. */
function growth(path: string, { size, life, signal }: { size: number; life: Life; signal: AbortSignal | undefined }) {
  return new Promise<void>((resolve) => {
    const done = () => {
      stopLooking();
      forget();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const stopLooking = life.notifier.add(path, size, done);
    const forget = life.onEnd(done);
    signal?.addEventListener('abort', done);
  });
}

/** Where the last `lines` lines begin, found in blocks from the end; the newline that ends the file begins no line. */
async function tailStart(
  path: string,
  { lines, size, signal }: { lines: number; size: number; signal: AbortSignal | undefined },
): Promise<number> {
  if (lines === 0) return size;
  let missing = lines;
  for (let end = size; end > 0 && !isAborted(signal); ) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const block = (await readBlock(path, start, Buffer.allocUnsafe(end - start))) ?? NOTHING;
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
