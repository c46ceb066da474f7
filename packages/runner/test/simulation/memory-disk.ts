import type { AppendFile, ControlListener, Disk } from '../../src/journal/disk.ts';

/** A disk in memory that can crash, fill up and fail: what is synced survives, of the rest perhaps some. */
export interface MemoryDisk extends Disk {
  readonly files: Map<string, Uint8Array>;
  /** Takes away what was not synced, but for the first `kept` bytes of it, and every claim. */
  crash(kept: (unsynced: number) => number): void;
  /** Bytes that can still be written. */
  room: number;
  /** Set: the next syncs fail with it. */
  syncError: NodeJS.ErrnoException | undefined;
  /** Whether claims keep others out; a network file system may not. */
  locksWork: boolean;
}

interface OpenFile {
  synced: number;
}

export function createMemoryDisk(): MemoryDisk {
  const files = new Map<string, Uint8Array>();
  const open = new Map<string, OpenFile>();
  const claims = new Map<string, ControlListener | undefined>();
  const disk: MemoryDisk = {
    files,
    room: Number.POSITIVE_INFINITY,
    syncError: undefined,
    locksWork: true,
    read: async (path) => files.get(path),
    readNow: (path) => files.get(path),
    async list(path) {
      const names = [...files.keys()].filter((file) => file.startsWith(`${path}/`));
      return [...new Set(names.map((file) => file.slice(path.length + 1).split('/')[0]!))].sort();
    },
    async replace(path, bytes) {
      take(bytes.length);
      files.set(path, bytes.slice());
    },
    async extend(path, bytes) {
      take(bytes.length);
      files.set(path, Buffer.concat([files.get(path) ?? new Uint8Array(), bytes]));
    },
    append: async (path, size) => openFile(path, size),
    async claim(directory, listener) {
      if (disk.locksWork && claims.has(directory)) return undefined;
      claims.set(directory, listener);
      return { release: async () => void claims.delete(directory) };
    },
    ask: async (directory, line) => (claims.has(directory) ? (claims.get(directory)?.(line) ?? '') : undefined),
    crash(kept) {
      for (const [path, file] of open) {
        const bytes = files.get(path) ?? new Uint8Array();
        files.set(path, bytes.slice(0, file.synced + kept(bytes.length - file.synced)));
      }
      open.clear();
      claims.clear();
    },
  };

  function take(bytes: number): void {
    if (bytes > disk.room) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    disk.room -= bytes;
  }

  function openFile(path: string, size: number): AppendFile {
    const bytes = (files.get(path) ?? new Uint8Array()).slice(0, size);
    files.set(path, bytes);
    const file: OpenFile = { synced: size };
    open.set(path, file);
    return {
      write(more) {
        take(more.length);
        files.set(path, Buffer.concat([files.get(path) ?? new Uint8Array(), more]));
      },
      async sync() {
        if (disk.syncError) throw disk.syncError;
        file.synced = files.get(path)?.length ?? 0;
      },
      close: async () => {
        if (open.get(path) === file) open.delete(path);
      },
    };
  }
  return disk;
}
