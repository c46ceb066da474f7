import { closeSync, constants, fchmodSync, write, writeSync, writev } from 'node:fs';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ConfinedTree } from './confined-tree.ts';
import { temporaryBeside } from './temporary-name.ts';

/** Bodies up to this size are written synchronously, without a round trip through the thread pool. */
const SMALL_BYTES = 64 * 1024;
/** Maximum bytes that a stream buffers before its source has to wait. */
const STREAM_BYTES = 1024 * 1024;

/**
 * A file being written, not visible under its own name until `commit`. Exactly one of `commit` and `discard` must be called.
 */
export interface WholeFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Writes the whole stream. Several blocks are written together if they arrive faster than the disk writes. */
  writeFrom(source: Readable): Promise<void>;
  /** Renames the file to its own name, replacing an existing file. */
  commit(): void;
  discard(): void;
}

/**
 * Begins to write the file `path`, whose directory must exist. Keeps the permission bits of a replaced file unless `mode` is
 * given. Does not sync: the content survives the end of this process, but not a power failure.
 */
export function createWholeFile(tree: ConfinedTree, path: string, options: { mode?: number } = {}): WholeFile {
  const temporary = temporaryBeside(path);
  const existing = tree.lstat(path);
  if (existing?.isDirectory()) {
    throw Object.assign(new Error(`could not write '${path}': it is a directory`), { code: 'EISDIR' });
  }
  const file = tree.openFile(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  const mode = options.mode ?? (existing?.isFile() ? existing.mode & 0o777 : undefined);
  let open = true;
  const close = () => {
    if (!open) return;
    // Set first: even a close that fails (with the error of an earlier write) has closed the descriptor.
    open = false;
    closeSync(file);
  };
  return {
    write: (bytes) => writeAll(file, bytes),
    writeFrom: (source) => pipeline(source, createFileSink(file)),
    commit() {
      if (mode !== undefined) fchmodSync(file, mode);
      close();
      tree.rename(temporary, path);
    },
    discard() {
      close();
      try {
        tree.unlink(temporary);
      } catch {
        // Its directory was removed or the disk failed: the original error is more useful.
      }
    },
  };
}

/** A stream into an open file. Unlike that of `node:fs` it never closes the descriptor, not even after an error. */
function createFileSink(file: number): Writable {
  return new Writable({
    highWaterMark: STREAM_BYTES,
    write(chunk: Buffer, _encoding, done) {
      writeAll(file, chunk).then(() => done(), done);
    },
    writev(chunks, done) {
      writeBlocks(
        file,
        chunks.map(({ chunk }) => chunk as Buffer),
      ).then(() => done(), done);
    },
  });
}

async function writeBlocks(file: number, blocks: readonly Buffer[]): Promise<void> {
  const written = await new Promise<number>((resolve, reject) => {
    writev(file, blocks, (error, bytes) => (error ? reject(error) : resolve(bytes)));
  });
  let skip = written;
  for (const block of blocks) {
    if (skip < block.length) await writeAll(file, block.subarray(skip));
    skip = Math.max(0, skip - block.length);
  }
}

/** Writes all of `bytes` at the descriptor's own position, or at `position`. */
export async function writeAll(file: number, bytes: Uint8Array, position: number | null = null): Promise<void> {
  let done = 0;
  if (bytes.length <= SMALL_BYTES) {
    while (done < bytes.length) {
      done += writeSync(file, bytes, done, bytes.length - done, position === null ? null : position + done);
    }
    return;
  }
  while (done < bytes.length) {
    const at = position === null ? null : position + done;
    done += await new Promise<number>((resolve, reject) => {
      write(file, bytes, done, bytes.length - done, at, (error, written) => (error ? reject(error) : resolve(written)));
    });
  }
}
