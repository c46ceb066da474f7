import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fail, ok, type Result } from '@sluice/core';

/** Why a file is not written. */
export const EXISTS = 'a file of this name exists; name another one, or remove it';

/** Writes a file that appears when it is complete, readable only by its owner. An existing file is never replaced. */
export function writeNewFile(path: string, bytes: Buffer): Result<undefined, string> {
  const incomplete = join(dirname(path), `.${basename(path)}.${process.pid}.incomplete`);
  try {
    writeFileSync(incomplete, bytes, { flag: 'wx', mode: 0o600, flush: true });
    linkSync(incomplete, path);
    return ok(undefined);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return fail(code === 'EEXIST' ? EXISTS : `${message}; name a file in another directory`);
  } finally {
    rmSync(incomplete, { force: true });
  }
}
