import fs from 'node:fs';
import { appendFile, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
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
    append: openForAppending,
    async extend(file, bytes) {
      await makeDirectory(path.dirname(file));
      await appendFile(file, bytes, { mode: 0o600 });
    },
    claim: claimDirectory,
    ask: askHolder,
  };
}

function absent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}

let replacements = 0;

async function replaceFile(file: string, bytes: Uint8Array): Promise<void> {
  await makeDirectory(path.dirname(file));
  const next = `${file}.${process.pid}-${replacements++}.new`;
  try {
    const handle = await open(next, 'w', 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
  await syncDirectory(path.dirname(file));
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

async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
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
