import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { fail, ok, type Result } from '@sluice/core';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The last `most` bytes of a file. A link, a pipe or a device is rejected, since its content may belong elsewhere. */
export function readRegularFile(path: string, most: number): Result<Buffer, string> {
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return fail(code === 'ENOENT' ? 'it does not exist' : `it could not be opened: ${code}`);
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return fail('it is not a regular file');
    const bytes = Buffer.alloc(Math.min(stats.size, most));
    let read = 0;
    while (read < bytes.length) {
      const got = readSync(file, bytes, read, bytes.length - read, stats.size - bytes.length + read);
      if (got === 0) break;
      read += got;
    }
    return ok(bytes.subarray(0, read));
  } catch (error) {
    return fail(`it could not be read: ${(error as NodeJS.ErrnoException).code}`);
  } finally {
    closeSync(file);
  }
}
