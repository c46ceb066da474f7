import { constants, fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { checkAnswer, type StorageAccess } from '../../storage/storage-access.ts';
import { closeFile } from './close-file.ts';
import type { ConfinedTree } from './confined-tree.ts';

const readFile = promisify(read);

/** Ranges up to this size are read immediately. */
const SMALL_BYTES = 64 * 1024;
const BLOCK_BYTES = 512 * 1024;

/**
 * The bytes of a file from `start` up to `end` (exclusive). A small range is read immediately. For a larger one the file is
 * opened again when reading begins, so that an unused iterable holds no descriptor. Throws if the file does not exist.
 */
export async function readRange(
  tree: ConfinedTree,
  path: string,
  range: { start?: number; end?: number } = {},
): Promise<AsyncIterable<Uint8Array>> {
  const file = tree.openFile(path, constants.O_RDONLY);
  try {
    const size = fstatSync(file).size;
    const start = Math.min(range.start ?? 0, size);
    const end = Math.max(start, Math.min(range.end ?? size, size));
    if (end - start <= SMALL_BYTES) return once(await readSmall(tree.storage, file, { start, end }));
    return reread(tree, path, { start, end });
  } finally {
    await closeFile(tree.storage, file);
  }
}

/**
 * Blocks from `start` up to `end` (exclusive) or the end of the file. The descriptor stays open. With `reuse`, all blocks
 * share one buffer, so a block is valid only until the next one is requested.
 */
export async function* readBlocks(
  storage: StorageAccess,
  file: number,
  { start, end, reuse }: { start: number; end: number; reuse?: boolean },
): AsyncGenerator<Uint8Array> {
  let position = start;
  let memory: Buffer | undefined;
  while (position < end) {
    const length = Math.min(BLOCK_BYTES, end - position);
    if (!reuse || memory === undefined) memory = Buffer.allocUnsafeSlow(length);
    const block = memory.subarray(0, length);
    const at = position;
    const { bytesRead: bytes } = await storage.inThread(() => readFile(file, block, 0, length, at));
    if (bytes === 0) return;
    position += bytes;
    yield block.subarray(0, bytes);
  }
}

async function* reread(
  tree: ConfinedTree,
  path: string,
  range: { start: number; end: number },
): AsyncGenerator<Uint8Array> {
  await checkAnswer(tree.storage);
  const file = tree.openFile(path, constants.O_RDONLY);
  try {
    yield* readBlocks(tree.storage, file, range);
  } finally {
    await closeFile(tree.storage, file);
  }
}

async function readSmall(
  storage: StorageAccess,
  file: number,
  { start, end }: { start: number; end: number },
): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(end - start);
  let done = 0;
  while (done < bytes.length) {
    const at = done;
    const { bytesRead } = await storage.inThread(() => readFile(file, bytes, at, bytes.length - at, start + at));
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
