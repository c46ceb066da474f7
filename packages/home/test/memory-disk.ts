import type { AppendFile, ControlListener, Disk } from '../src/journal/disk.ts';

/** A disk in memory that can crash, fill up and fail: what is synced survives, of the rest perhaps some. */
export interface MemoryDisk extends Disk {
  readonly files: Map<string, Uint8Array>;
  /** The bytes of a file that would survive a crash of the machine now. */
  durable(path: string): Uint8Array;
  /** The machine goes down: takes away what was not synced, but for the first `kept` bytes of it, and every claim. */
  crash(kept: (unsynced: number) => number): void;
  /** Bytes that can still be written. */
  room: number;
  /** What the disk reports; files can be created nevertheless. */
  freeInodes: number;
  /** How many of the next syncs fail; what they should have made durable is lost, whatever later syncs say. */
  failingSyncs: number;
  /** Whether claims keep others out and changes are told; a network file system may do neither. */
  locksWork: boolean;
}

interface Written {
  synced: number;
  /** Set by a failed sync: nothing from here on is durable, ever. */
  lostFrom: number | undefined;
}

export function createMemoryDisk(): MemoryDisk {
  const files = new Map<string, Uint8Array>();
  const written = new Map<string, Written>();
  const rooms = new Map<string, Uint8Array<ArrayBuffer>>();
  const watchers = new Set<{ readonly directory: string; readonly listener: () => void }>();
  const claims = new Map<
    string,
    { readonly listener: ControlListener | undefined; readonly released: Promise<string> }
  >();
  const disk: MemoryDisk = {
    files,
    room: Number.POSITIVE_INFINITY,
    freeInodes: Number.POSITIVE_INFINITY,
    failingSyncs: 0,
    locksWork: true,
    read: async (path) => files.get(path),
    readPart: async (path, { start, length }) => files.get(path)?.slice(start, start + length),
    readNow: (path) => files.get(path),
    async list(path) {
      const names = [...files.keys()].filter((file) => file.startsWith(`${path}/`));
      return [...new Set(names.map((file) => file.slice(path.length + 1).split('/')[0]!))].sort();
    },
    async replace(path, content) {
      const bytes = content instanceof Uint8Array ? content.slice() : Buffer.concat([...content]);
      take(bytes.length);
      files.set(path, bytes);
      written.delete(path);
      if (!disk.locksWork) return;
      for (const { directory, listener } of watchers) if (path.startsWith(`${directory}/`)) listener();
    },
    async create(path, bytes) {
      if (files.has(path)) return false;
      await disk.replace(path, bytes);
      return true;
    },
    async extend(path, bytes) {
      take(bytes.length);
      files.set(path, Buffer.concat([files.get(path) ?? new Uint8Array(), bytes]));
    },
    free: async () => ({ bytes: disk.room, inodes: disk.freeInodes }),
    async measure(path) {
      const inside = [...files].filter(([file]) => file === path || file.startsWith(`${path}/`));
      return { bytes: inside.reduce((sum, [, bytes]) => sum + bytes.length, 0), inodes: inside.length };
    },
    async remove(path) {
      for (const file of [...files.keys()]) if (file === path || file.startsWith(`${path}/`)) files.delete(file);
    },
    watch(directory, listener) {
      const watcher = { directory, listener };
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    append: async (path, size) => openFile(path, size),
    async claim(directory, listener) {
      if (disk.locksWork && claims.has(directory)) return undefined;
      const { promise: released, resolve: release } = createReleased();
      const claim = { listener, released };
      claims.set(directory, claim);
      return {
        release: async () => {
          if (claims.get(directory) === claim) claims.delete(directory);
          release('');
        },
      };
    },
    ask: async (directory, line) => {
      const claim = claims.get(directory);
      // A connection ends with the process that accepted it.
      return claim && Promise.race([claim.listener?.(line) ?? '', claim.released]);
    },
    durable(path) {
      const bytes = files.get(path) ?? new Uint8Array();
      const file = written.get(path);
      return file ? bytes.slice(0, file.lostFrom ?? file.synced) : bytes;
    },
    crash(kept) {
      for (const [path, file] of written) {
        const bytes = files.get(path) ?? new Uint8Array();
        const safe = file.lostFrom ?? file.synced;
        files.set(path, bytes.slice(0, safe + (file.lostFrom === undefined ? kept(bytes.length - safe) : 0)));
      }
      written.clear();
      claims.clear();
    },
  };

  function take(bytes: number): void {
    if (bytes > disk.room) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    disk.room -= bytes;
  }

  /** With room to grow: a journal that were copied for each line would take the square of its length. */
  function add(path: string, part: Uint8Array): void {
    const now = files.get(path) ?? new Uint8Array();
    const length = now.length + part.length;
    let room = rooms.get(path);
    if (room?.buffer !== now.buffer || room.length < length) {
      room = new Uint8Array(2 * length);
      room.set(now);
      rooms.set(path, room);
    }
    room.set(part, now.length);
    files.set(path, room.subarray(0, length));
  }

  function openFile(path: string, size: number): AppendFile {
    files.set(path, (files.get(path) ?? new Uint8Array()).slice(0, size));
    const file: Written = { synced: size, lostFrom: written.get(path)?.lostFrom };
    written.set(path, file);
    return {
      write(more) {
        const part = more.subarray(0, Math.max(0, Math.min(more.length, disk.room)));
        add(path, part);
        take(more.length);
      },
      async sync() {
        if (disk.failingSyncs > 0) {
          disk.failingSyncs--;
          file.lostFrom ??= file.synced;
          throw Object.assign(new Error('input/output error'), { code: 'EIO' });
        }
        file.synced = files.get(path)?.length ?? 0;
      },
      close: async () => {},
    };
  }
  return disk;
}

function createReleased(): { readonly promise: Promise<string>; readonly resolve: (reply: string) => void } {
  let resolve: (reply: string) => void = () => {};
  const promise = new Promise<string>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
