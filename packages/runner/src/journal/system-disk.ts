import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { appendFile, link, lstat, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectories } from '@sluice/host-system';
import { askHolder } from './ask-holder.ts';
import { claimDirectory } from './claim-directory.ts';
import type { AppendFile, Disk } from './disk.ts';

/** The machine's own files. New ones are readable by their owner only. */
export function createSystemDisk(): Disk {
  return {
    read: (file) => readFile(file).catch(absent),
    readNow(file) {
      try {
        return fs.readFileSync(file);
      } catch (error) {
        return absent(error);
      }
    },
    list: async (directory) => (await readdir(directory).catch(absent))?.sort() ?? [],
    replace: replaceFile,
    create: createFile,
    append: openForAppending,
    async extend(file, bytes) {
      await makeDirectory(path.dirname(file));
      await appendFile(file, bytes, { mode: 0o600 });
    },
    measure: measureTree,
    remove: (file) => rm(file, { recursive: true, force: true }),
    watch: watchDirectory,
    claim: claimDirectory,
    ask: askHolder,
  };
}

function absent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}

/** Where the system has no more watches to give, nothing is told. */
function watchDirectory(directory: string, listener: () => void): () => void {
  try {
    const watcher = fs.watch(directory, { persistent: false }, listener);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}

async function measureTree(file: string): Promise<number> {
  const found = await lstat(file).catch(absent);
  if (!found?.isDirectory()) return found?.size ?? 0;
  const sizes = await Promise.all((await readdir(file)).map((name) => measureTree(path.join(file, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function replaceFile(file: string, bytes: Uint8Array): Promise<void> {
  const next = await writeBeside(file, bytes);
  try {
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
  await syncDirectory(path.dirname(file));
}

/** A link, not a rename: it fails where the name is taken, on network file systems too. */
async function createFile(file: string, bytes: Uint8Array): Promise<boolean> {
  const next = await writeBeside(file, bytes);
  let created = true;
  try {
    await link(next, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    created = false;
  } finally {
    await rm(next, { force: true });
  }
  // Also for the one who comes second: what it does now relies on the other's file.
  await syncDirectory(path.dirname(file));
  return created;
}

/** A whole file, its bytes durable, under a name that nobody else has: on two hosts there are processes with one number. */
async function writeBeside(file: string, bytes: Uint8Array): Promise<string> {
  await makeDirectory(path.dirname(file));
  const next = `${file}.${randomBytes(8).toString('hex')}.new`;
  try {
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(bytes);
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

async function openForAppending(file: string, size: number): Promise<AppendFile> {
  await makeDirectory(path.dirname(file));
  const fd = fs.openSync(file, 'a', 0o600);
  if (fs.fstatSync(fd).size !== size) {
    fs.ftruncateSync(fd, size);
    fs.fdatasyncSync(fd);
  }
  await syncDirectory(path.dirname(file));
  return {
    write(bytes) {
      let done = 0;
      while (done < bytes.length) done += fs.writeSync(fd, bytes, done);
    },
    // By callback: a FileHandle costs half as much again for each call (docs/benchmarks.md).
    sync: () => new Promise((resolve, reject) => fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()))),
    close: () => new Promise((resolve, reject) => fs.close(fd, (error) => (error ? reject(error) : resolve()))),
  };
}

/** New directories are durable, too: a file in one that is lost is lost with it. */
async function makeDirectory(directory: string): Promise<void> {
  const first = await makeDirectories(directory, 0o700);
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = path.dirname(made)) {
    await syncDirectory(path.dirname(made));
  }
}

/** A new name is durable only when its directory is. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
