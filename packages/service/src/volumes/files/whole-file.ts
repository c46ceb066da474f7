import { closeSync, constants, fchmodSync, write, writeSync, writev } from 'node:fs';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ConfinedTree } from './confined-tree.ts';
import { temporaryBeside } from './temporary-name.ts';

/** A body up to this is written at once, without a trip through the thread pool. */
const SMALL_BYTES = 64 * 1024;
/** What a stream holds back at most before its source has to wait. */
const STREAM_BYTES = 1024 * 1024;

/** A file in the making, invisible under its own name until `commit`. Exactly one of `commit` and `discard` ends it. */
export interface WholeFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Writes all that comes, several blocks at once where they come faster than the disk takes them. */
  writeFrom(source: Readable): Promise<void>;
  /** Gives the file its name, in place of any file that has it. */
  commit(): void;
  discard(): void;
}

/**
 * Begins to write the file `path`, whose directory must be there. A file that is replaced passes its permission bits
 * on, unless `mode` is given. Not synced to disk: what the page cache holds survives us, not a power cut.
 */
export function createWholeFile(tree: ConfinedTree, path: string, options: { mode?: number } = {}): WholeFile {
  const temporary = temporaryBeside(path);
  const existing = tree.lstat(path);
  if (existing?.isDirectory()) {
    throw Object.assign(new Error(`cannot write '${path}': it is a directory`), { code: 'EISDIR' });
  }
  const file = tree.openFile(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  const mode = options.mode ?? (existing?.isFile() ? existing.mode & 0o777 : undefined);
  let open = true;
  const close = () => {
    if (!open) return;
    // First: also one that fails, with the error of an earlier write, has closed it.
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
        // Gone with its directory, or the disk is in trouble: the error that led here is the one to tell.
      }
    },
  };
}

/** A stream into an open file. Unlike that of `node:fs` it never closes the descriptor, also not when it fails. */
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
