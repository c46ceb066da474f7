import { close, closeSync, constants, fstat, fstatSync, ftruncate, open, type Stats, write, writev } from 'node:fs';
import { promisify } from 'node:util';
import type { FileCharge } from '../storage-space.ts';
import { closeFile } from './close-file.ts';
import type { ConfinedTree } from './confined-tree.ts';
import { O_PATH } from './held-directory.ts';

const closeDescriptor = promisify(close);
const openDescriptor = promisify(open);
const readStats = promisify(fstat);
const truncateFile = promisify(ftruncate);
const WRITES = constants.O_WRONLY | constants.O_RDWR;

/**
 * An open file whose content changes only through it, so that its space is reserved before and counted afterwards. All
 * calls wait in threads, since the storage may stop answering between them.
 */
export interface ChargedFile {
  /** For reading and for attributes; `close` closes it. */
  readonly file: number;
  /** Reserves space for so many bytes in all. Throws `VolumeQuotaExceeded`. */
  expect(bytes: number): void;
  /** Writes all blocks, one after the other, at `position`, or at the end without one. Throws `VolumeQuotaExceeded`. */
  write(blocks: readonly Uint8Array[], position?: number): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Waits for writes that are in progress. Does nothing the second time. */
  close(): Promise<void>;
}

/** Opens a file as `ConfinedTree.openFile` does; `flags` must not truncate it. */
export function openChargedFile(
  tree: ConfinedTree,
  { path, flags, mode }: { path: string; flags: number; mode?: number },
): ChargedFile {
  const file = tree.openFile(path, flags, mode);
  let isOpen = true;
  // Files that are only read need none.
  const charge = (flags & WRITES) === 0 ? undefined : tree.space.open(fstatSync(file));
  // A descriptor that is closed before a write has begun could be that of another file when it does.
  let changes: Promise<unknown> = Promise.resolve();
  const change = (calls: () => Promise<void>): Promise<void> => {
    const done = tree.storage.inThread(calls);
    changes = Promise.allSettled([changes, done]);
    return done;
  };
  return {
    file,
    expect: (bytes) => charge?.expect(bytes),
    async write(blocks, position) {
      const length = blocks.reduce((sum, block) => sum + block.length, 0);
      const at = (flags & constants.O_APPEND) === 0 ? position : undefined;
      charge?.grow(length, at ?? null);
      await change(() => writeBlocks(file, blocks, at));
    },
    truncate: (size) =>
      change(async () => {
        await truncateFile(file, size);
        charge?.resized(await readStats(file));
      }),
    async close() {
      if (!isOpen) return;
      // Set first: even a close that fails (with the error of an earlier write) has closed the descriptor.
      isOpen = false;
      await changes;
      await (charge === undefined
        ? closeFile(tree.storage, file)
        : tree.storage.inThread(() => closeAndCount(file, charge)));
    },
  };
}

/** XFS frees the blocks that it allocated ahead only when the file is closed, so it is described after that. */
async function closeAndCount(file: number, charge: FileCharge): Promise<void> {
  let stats: Stats | undefined;
  // Without a descriptor left for it, the file counts as what was written.
  const node = await openDescriptor(`/proc/self/fd/${file}`, O_PATH).catch(() => undefined);
  try {
    await closeDescriptor(file);
    if (node !== undefined) stats = await readStats(node);
  } finally {
    charge.close(stats);
    // This makes no call to the storage: nothing was opened there.
    if (node !== undefined) closeSync(node);
  }
}

async function writeBlocks(file: number, blocks: readonly Uint8Array[], position: number | undefined): Promise<void> {
  if (blocks.length === 1) return writeAll(file, blocks[0]!, position);
  const written = await new Promise<number>((resolve, reject) => {
    writev(file, blocks, position ?? null, (error, count) => (error ? reject(error) : resolve(count)));
  });
  // A write may be partial.
  let before = 0;
  for (const block of blocks) {
    const skip = Math.min(block.length, Math.max(0, written - before));
    const at = position === undefined ? undefined : position + before + skip;
    if (skip < block.length) await writeAll(file, block.subarray(skip), at);
    before += block.length;
  }
}

async function writeAll(file: number, bytes: Uint8Array, position: number | undefined): Promise<void> {
  const at = (done: number) => (position === undefined ? null : position + done);
  let done = 0;
  while (done < bytes.length) {
    done += await new Promise<number>((resolve, reject) => {
      write(file, bytes, done, bytes.length - done, at(done), (error, written) =>
        error ? reject(error) : resolve(written),
      );
    });
  }
}
