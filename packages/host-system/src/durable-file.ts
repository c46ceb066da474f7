import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectories } from './make-directories.ts';
import { isSystemError } from './system-error.ts';

/** How a file is replaced, beyond its content. */
export interface ReplaceOptions {
  /** Default: readable and writable by its owner only. */
  readonly mode?: number;
  /** Default: the user of this process. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Called when the new content is durable, and before it is in place; where it throws, the old one stays. */
  readonly beforeReplacing?: () => Promise<void>;
}

/** Replaces a whole file, durable: a reader sees the old or the new one, also after a power cut. */
export async function replaceFile(
  file: string,
  content: Uint8Array | string,
  options: ReplaceOptions = {},
): Promise<void> {
  const next = await writeBeside(file, content, options);
  try {
    await options.beforeReplacing?.();
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
  await syncDirectory(dirname(file));
}

/** As `replaceFile`, but only where there is no such file: of any number of callers one gets true, the others false. */
export async function createFile(file: string, content: Uint8Array | string): Promise<boolean> {
  const next = await writeBeside(file, content, {});
  let created = true;
  try {
    // A link, not a rename: it fails where the name is taken, on network file systems too.
    await link(next, file);
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
    created = false;
  } finally {
    await rm(next, { force: true });
  }
  // Also for the one who comes second: what it does now relies on the other's file.
  await syncDirectory(dirname(file));
  return created;
}

/** As `replaceFile`, at once, and for one process at a time. */
export function replaceFileSync(file: string, text: string): void {
  const next = `${file}.new`;
  const fd = openSync(next, 'w', 0o600);
  try {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    // Without it the rename may reach the disk before the bytes do.
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(next, file);
  const directory = openSync(dirname(file), 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** New directories are durable, too: a file in one that is lost is lost with it. */
export async function makeDurableDirectory(directory: string): Promise<void> {
  const first = await makeDirectories(directory, 0o700);
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made));
}

/** A new name is durable only when its directory is. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A whole file, its bytes durable, under a name that no other process has: on two hosts there are processes with one number. */
async function writeBeside(
  file: string,
  content: Uint8Array | string,
  { mode = 0o600, owner }: ReplaceOptions,
): Promise<string> {
  await makeDurableDirectory(dirname(file));
  const next = `${file}.${randomBytes(8).toString('hex')}.new`;
  try {
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      if (mode !== 0o600) await handle.chmod(mode);
      if (owner) await handle.chown(owner.uid, owner.gid);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
  return next;
}
