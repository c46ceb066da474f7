import { closeSync, constants, fstatSync, read, readSync } from 'node:fs';
import type { ConfinedTree } from './confined-tree.ts';

/** A file up to this is read at once. */
const SMALL_BYTES = 64 * 1024;
const BLOCK_BYTES = 512 * 1024;

/**
 * The bytes of a file from `start` to before `end`. The file is opened anew when the reading begins, so that an
 * iterable that nobody reads holds nothing; a small one is read at once. Throws where nothing is.
 */
export function readRange(
  tree: ConfinedTree,
  path: string,
  range: { start?: number; end?: number } = {},
): AsyncIterable<Uint8Array> {
  const file = tree.openFile(path, constants.O_RDONLY);
  try {
    const size = fstatSync(file).size;
    const start = Math.min(range.start ?? 0, size);
    const end = Math.max(start, Math.min(range.end ?? size, size));
    if (end - start <= SMALL_BYTES) return once(readSmall(file, start, end));
    return reread(() => tree.openFile(path, constants.O_RDONLY), start, end);
  } finally {
    closeSync(file);
  }
}

/**
 * Blocks from `start` to before `end`, or to where the file ends by then; the descriptor stays open. With `reuse` all are
 * given in the same memory: whoever asks for the next has done with the last.
 */
export async function* readBlocks(
  file: number,
  { start, end, reuse }: { start: number; end: number; reuse?: boolean },
): AsyncGenerator<Uint8Array> {
  let position = start;
  let memory: Buffer | undefined;
  while (position < end) {
    const length = Math.min(BLOCK_BYTES, end - position);
    if (!reuse || memory === undefined) memory = Buffer.allocUnsafeSlow(length);
    const block = memory.subarray(0, length);
    const bytes = await readBlock(file, block, position);
    if (bytes === 0) return;
    position += bytes;
    yield block.subarray(0, bytes);
  }
}

async function* reread(open: () => number, start: number, end: number): AsyncGenerator<Uint8Array> {
  const file = open();
  try {
    yield* readBlocks(file, { start, end });
  } finally {
    closeSync(file);
  }
}

function readBlock(file: number, block: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(file, block, 0, block.length, position, (error, bytes) => (error ? reject(error) : resolve(bytes)));
  });
}

function readSmall(file: number, start: number, end: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(end - start);
  let done = 0;
  while (done < bytes.length) {
    const count = readSync(file, bytes, done, bytes.length - done, start + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
