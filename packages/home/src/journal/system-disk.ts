import fs from 'node:fs';
import { appendFile, lstat, open, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  createFile,
  type DiskAmount,
  isSystemError,
  isUnfinished,
  makeDurableDirectory,
  readFreeSpace,
  replaceFile,
  syncDirectory,
} from '@sluice/host-system';
import { askHolder } from './ask-holder.ts';
import { claimDirectory } from './claim-directory.ts';
import type { AppendFile, Disk } from './disk.ts';

const UNLIMITED: DiskAmount = { bytes: Number.POSITIVE_INFINITY, inodes: Number.POSITIVE_INFINITY };

/** The machine's own files. Only their owner can read new ones. */
export function createSystemDisk(): Disk {
  return {
    read: (file) => readFile(file).catch(absent),
    readPart: (file, part) => readPart(file, part).catch(absent),
    readNow(file) {
      try {
        return fs.readFileSync(file);
      } catch (error) {
        return absent(error);
      }
    },
    list: async (directory) =>
      ((await readdir(directory).catch(absent)) ?? []).filter((name) => !isUnfinished(name)).sort(),
    replace: replaceFile,
    create: createFile,
    append: openForAppending,
    async extend(file, bytes) {
      await makeDurableDirectory(path.dirname(file));
      await appendFile(file, bytes, { mode: 0o600 });
    },
    measure: measureTree,
    free: (file) => readFreeSpace(file).catch(() => UNLIMITED),
    remove: (file) => rm(file, { recursive: true, force: true }),
    watch: watchDirectory,
    claim: claimDirectory,
    ask: askHolder,
  };
}

async function readPart(file: string, part: { start: number; length: number }): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const bytes = Buffer.allocUnsafe(Math.min(part.length, Math.max(0, (await handle.stat()).size - part.start)));
    let count = 0;
    while (count < bytes.length) {
      const { bytesRead } = await handle.read(bytes, count, bytes.length - count, part.start + count);
      // Truncated in the meantime.
      if (bytesRead === 0) break;
      count += bytesRead;
    }
    return bytes.subarray(0, count);
  } finally {
    await handle.close();
  }
}

function absent(error: unknown): undefined {
  if (isSystemError(error, 'ENOENT')) return undefined;
  throw error;
}

/** If the system's limit of watches is reached, no change is reported. */
function watchDirectory(directory: string, listener: () => void): () => void {
  try {
    const watcher = fs.watch(directory, { persistent: false }, listener);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}

/** What is removed in the meantime counts as absent. */
async function measureTree(file: string): Promise<DiskAmount> {
  const found = await lstat(file).catch(absent);
  if (found === undefined) return { bytes: 0, inodes: 0 };
  if (!found.isDirectory()) return { bytes: found.size, inodes: 1 };
  const names = (await readdir(file).catch(absent)) ?? [];
  let [bytes, inodes] = [0, 1];
  for (const part of await Promise.all(names.map((name) => measureTree(path.join(file, name))))) {
    bytes += part.bytes;
    inodes += part.inodes;
  }
  return { bytes, inodes };
}

async function openForAppending(file: string, size: number): Promise<AppendFile> {
  await makeDurableDirectory(path.dirname(file));
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
    // With callbacks: a FileHandle makes each call 50 % slower (docs/benchmarks.md).
    sync: () => new Promise((resolve, reject) => fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()))),
    close: () => new Promise((resolve, reject) => fs.close(fd, (error) => (error ? reject(error) : resolve()))),
  };
}
