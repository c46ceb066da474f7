import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { link, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectories } from './make-directories.ts';
import { isSystemError } from './system-error.ts';

/** How `replaceFile` creates the new file. */
export interface ReplaceOptions {
  /** Default: readable and writable by its owner only. */
  readonly mode?: number;
  /** Default: the user of this process. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Called when the new content is durable but not yet in place. If it throws, the old file stays. */
  readonly beforeReplacing?: () => Promise<void>;
}

/**
 * Replaces a whole file atomically and durably: readers see the old or the new content, even after a power failure. Blocks
 * are taken while they are written.
 */
export async function replaceFile(
  file: string,
  content: Uint8Array | string | Iterable<Uint8Array>,
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

/** As `replaceFile`, but only if the file does not exist. Of several concurrent callers, exactly one gets true. */
export async function createFile(file: string, content: Uint8Array | string): Promise<boolean> {
  const next = await writeBeside(file, content, {});
  let created = true;
  try {
    // Unlike a rename, a link fails if the name exists, on network file systems too.
    await link(next, file);
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
    created = false;
  } finally {
    await rm(next, { force: true });
  }
  // Also if another caller created the file, because this caller now relies on it.
  await syncDirectory(dirname(file));
  return created;
}

/** As `replaceFile`, but synchronous. Only one process at a time may replace the same file. */
export function replaceFileSync(file: string, text: string): void {
  const next = `${file}.new`;
  const fd = openSync(next, 'w', 0o600);
  try {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    // Otherwise the rename may reach the disk before the content.
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

/** Creates a directory and its parents (mode 0700) and syncs each, so that files in them are not lost in a crash. */
export async function makeDurableDirectory(directory: string): Promise<void> {
  const first = await makeDirectories(directory, 0o700);
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made));
}

/** Syncs a directory: a created, renamed or removed file is durable only after its directory is synced. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const UNFINISHED = /\.[0-9a-f]{16}\.new$/;

/** Whether a name is that of a file that `replaceFile` or `createFile` writes first: a killed process leaves it, perhaps incomplete. */
export function isUnfinished(name: string): boolean {
  return UNFINISHED.test(name);
}

/** Writes a durable temporary file beside `file`. Its name is random because process IDs are not unique across hosts. */
async function writeBeside(
  file: string,
  content: Uint8Array | string | Iterable<Uint8Array>,
  { mode = 0o600, owner }: ReplaceOptions,
): Promise<string> {
  await makeDurableDirectory(dirname(file));
  const next = `${file}.${randomBytes(8).toString('hex')}.new`;
  try {
    const handle = await open(next, 'wx', 0o600);
    try {
      await writeFile(handle, content);
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
