import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isSystemError } from '@sluice/host-system';

/** The most that one call reads. */
const CHUNK_BYTES = 4 * 2 ** 20;
/** No line of ours is longer: the environment and the arguments of a process have at most 2 MiB. */
const LONGEST_LINE = 16 * 2 ** 20;

/** A file of lines that another machine appends to, on storage that both share. */
export interface SpoolTail {
  /**
   * The complete lines since the last call, at most a few MiB. Opens the file each time: NFS shows what others have
   * written only to those who open the file after it. Empty while there is no such file. Throws if it is no regular file.
   */
  read(): Promise<string[]>;
}

/** The file must belong to the owner of its directory. Links are not followed. */
export function tailSpool(path: string): SpoolTail {
  let offset = 0;
  let rest: Buffer = Buffer.alloc(0);
  return {
    async read() {
      const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) => {
        if (isSystemError(error, 'ENOENT')) return undefined;
        throw error;
      });
      if (file === undefined) return [];
      try {
        // Both may just be given to the user of an account.
        const owner = (await lstat(dirname(path))).uid;
        const stats = await file.stat();
        if (!stats.isFile() || stats.uid !== owner)
          throw new Error(`could not read '${path}': it is not a file of user ${owner}`);
        const size = Math.min(CHUNK_BYTES, stats.size - offset);
        if (size <= 0) return [];
        const { bytesRead, buffer } = await file.read(Buffer.alloc(size), 0, size, offset);
        offset += bytesRead;
        const text = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = text.lastIndexOf(10) + 1;
        // Copied: the rest would keep the whole chunk.
        rest = text.length - end > LONGEST_LINE ? Buffer.alloc(0) : Buffer.from(text.subarray(end));
        return end === 0 ? [] : text.toString('utf8', 0, end - 1).split('\n');
      } finally {
        await file.close();
      }
    },
  };
}

/** The writing end of such a file, which must exist. */
export interface SpoolWriter {
  /** Appends complete lines, after those of earlier calls. Of a call that fails, any part may have been written. */
  append(text: string): Promise<void>;
}

/** Opens the file only to write. */
export function openSpool(path: string): SpoolWriter {
  // The last writer may have been killed in the middle of a line, which is ended first.
  let isTorn = true;
  let last: Promise<unknown> = Promise.resolve();
  const write = async (text: string): Promise<void> => {
    const file = await open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
    try {
      const bytes = Buffer.from(isTorn ? `\n${text}` : text);
      isTorn = true;
      for (let done = 0; done < bytes.length; ) done += (await file.write(bytes, done)).bytesWritten;
      isTorn = false;
    } finally {
      await file.close();
    }
  };
  return {
    append(text) {
      const done = last.then(() => write(text));
      last = done.catch(() => undefined);
      return done;
    },
  };
}
