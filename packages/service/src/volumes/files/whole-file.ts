import { constants, fchmod } from 'node:fs';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { checkAnswer } from '../../storage/storage-access.ts';
import { type ChargedFile, openChargedFile } from './charged-file.ts';
import type { ConfinedTree } from './confined-tree.ts';
import { temporaryBeside } from './temporary-name.ts';

const changeMode = promisify(fchmod);

/** Maximum bytes that a stream buffers before its source has to wait. */
const STREAM_BYTES = 1024 * 1024;

/**
 * A file being written, not visible under its own name until `commit`. Either `finish`
 * and then `commit`, or `discard` must be called.
 */
export interface WholeFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Writes the whole stream. Several blocks are written together if they arrive faster than the disk writes. */
  writeFrom(source: Readable): Promise<void>;
  /** Closes the file once everything is written. Throws `StorageSilent` if it then cannot be committed. */
  finish(): Promise<void>;
  /** Renames the file to its own name, replacing an existing file. Call it directly after `finish`, without waiting. */
  commit(): void;
  /** Leaves the file for the daily sweep if the storage does not answer. */
  discard(): Promise<void>;
}

/**
 * Begins to write the file `path`, whose directory must exist. Keeps the permission bits of a replaced file unless `mode` is
 * given. Reserves space for `size` bytes, or as they arrive without it; writes throw `VolumeQuotaExceeded`, and so does this.
 * Does not sync: the content survives the end of this process, but not a power failure.
 */
export function createWholeFile(
  tree: ConfinedTree,
  path: string,
  options: { mode?: number | undefined; size?: number | undefined } = {},
): WholeFile {
  tree.space.check(options.size);
  const temporary = temporaryBeside(path);
  const existing = tree.lstat(path);
  if (existing?.isDirectory()) {
    throw Object.assign(new Error(`could not write '${path}': it is a directory`), { code: 'EISDIR' });
  }
  const file = openChargedFile(tree, {
    path: temporary,
    flags: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
  });
  const mode = options.mode ?? (existing?.isFile() ? existing.mode & 0o777 : undefined);
  const whole: WholeFile = {
    write: (bytes) => file.write([bytes]),
    writeFrom: (source) => pipeline(source, createFileSink(file)),
    async finish() {
      if (mode !== undefined) await tree.storage.inThread(() => changeMode(file.file, mode));
      await file.close();
      await checkAnswer(tree.storage);
    },
    commit: () => tree.rename(temporary, path),
    async discard() {
      const closed = file.close().catch(() => {});
      try {
        await checkAnswer(tree.storage);
        await closed;
        tree.unlink(temporary);
      } catch {
        // Its directory was removed or the disk failed: the original error is more useful.
      }
    },
  };
  try {
    if (options.size !== undefined) file.expect(options.size);
  } catch (error) {
    void whole.discard();
    throw error;
  }
  return whole;
}

/** A stream into an open file. Unlike that of `node:fs` it never closes the descriptor, not even after an error. */
function createFileSink(file: ChargedFile): Writable {
  const write = (blocks: readonly Buffer[], done: (error?: Error | null) => void) =>
    void file.write(blocks).then(() => done(), done);
  return new Writable({
    highWaterMark: STREAM_BYTES,
    write: (chunk: Buffer, _encoding, done) => write([chunk], done),
    writev: (chunks, done) =>
      write(
        chunks.map(({ chunk }) => chunk as Buffer),
        done,
      ),
  });
}
