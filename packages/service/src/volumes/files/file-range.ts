import { closeSync, constants, fstatSync, read, readSync } from 'node:fs';
import type { ConfinedTree } from './confined-tree.ts';

/** Ranges up to this size are read immediately. */
const SMALL_BYTES = 64 * 1024;
const BLOCK_BYTES = 512 * 1024;

/**
 * The bytes of a file from `start` up to `end` (exclusive). A small range is read immediately. For a larger one the file is
 * opened again when reading begins, so that an unused iterable holds no descriptor. Throws if the file does not exist.
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
 * Blocks from `start` up to `end` (exclusive) or the end of the file. The descriptor stays open. With `reuse`, all blocks
 * share one buffer, so a block is valid only until the next one is requested.
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
