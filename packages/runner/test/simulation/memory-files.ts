import { type FileEntry, ServiceError, type VolumeFiles } from '@sluice/client';

/** The files of a volume, in memory: paths to bytes, and the directories that were made. */
export interface MemoryVolume {
  readonly files: Map<string, Uint8Array>;
  readonly directories: Set<string>;
  /** When each file was written, in milliseconds: no two at once. */
  readonly times: Map<string, number>;
}

let writes = 0;

export function createMemoryVolume(): MemoryVolume {
  return { files: new Map(), directories: new Set(), times: new Map() };
}

/** Makes a directory and those above it. */
function makeDirectory(volume: MemoryVolume, path: string): void {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) volume.directories.add(path.slice(0, end));
}

export function writeFile(volume: MemoryVolume, path: string, bytes: Uint8Array): void {
  if (path.includes('/')) makeDirectory(volume, path.slice(0, path.lastIndexOf('/')));
  volume.files.set(path, bytes);
  volume.times.set(path, ++writes * 1000);
}

/** Whether a file or directory is there. */
function exists(volume: MemoryVolume, path: string): boolean {
  return path === '' || volume.files.has(path) || volume.directories.has(path);
}

/** `VolumeFiles` over a volume in memory. */
export function createMemoryFiles(volume: MemoryVolume): VolumeFiles {
  const entry = (path: string): FileEntry | undefined => {
    const bytes = volume.files.get(path);
    if (bytes) return { path, kind: 'file', size: bytes.length, modifiedAt: volume.times.get(path) ?? 0 };
    return exists(volume, path) ? { path, kind: 'dir', size: 0, modifiedAt: 0 } : undefined;
  };
  const missing = (path: string) => new ServiceError('NOT_FOUND', `could not find ${path}`, { status: 404 });
  return {
    stat: async (path) => entry(path),
    async list(path) {
      if (entry(path)?.kind !== 'dir') throw missing(path);
      const prefix = path === '' ? '' : `${path}/`;
      const all = [...volume.files.keys(), ...volume.directories].filter((name) => name.startsWith(prefix));
      return all
        .filter((name) => name.length > prefix.length && !name.slice(prefix.length).includes('/'))
        .sort()
        .map((name) => entry(name)!);
    },
    async read(path, range = {}) {
      const bytes = volume.files.get(path);
      if (!bytes) throw missing(path);
      const part = bytes.subarray(range.start ?? 0, range.end ?? bytes.length);
      return (async function* () {
        yield part;
      })();
    },
    async write(path, body) {
      const chunks: Uint8Array[] = [];
      if (body instanceof Uint8Array) chunks.push(body);
      else for await (const chunk of body) chunks.push(chunk);
      writeFile(volume, path, Buffer.concat(chunks));
    },
    // As a service does that is not ours.
    link: async () => false,
    async makeDirectory(path) {
      makeDirectory(volume, path);
    },
    async move(from, to) {
      if (!exists(volume, from)) throw missing(from);
      if (exists(volume, to)) throw new ServiceError('ALREADY_EXISTS', `${to} is there`, { status: 409 });
      if (to.includes('/')) makeDirectory(volume, to.slice(0, to.lastIndexOf('/')));
      for (const [path, bytes] of [...volume.files]) {
        if (path !== from && !path.startsWith(`${from}/`)) continue;
        volume.files.delete(path);
        volume.files.set(to + path.slice(from.length), bytes);
      }
      for (const path of [...volume.directories]) {
        if (path !== from && !path.startsWith(`${from}/`)) continue;
        volume.directories.delete(path);
        volume.directories.add(to + path.slice(from.length));
      }
    },
    async copy(from, to) {
      if (!exists(volume, from)) throw missing(from);
      if (exists(volume, to)) throw new ServiceError('ALREADY_EXISTS', `${to} is there`, { status: 409 });
      if (to.includes('/')) makeDirectory(volume, to.slice(0, to.lastIndexOf('/')));
      const isCopied = (path: string) => path === from || path.startsWith(`${from}/`);
      for (const [path, bytes] of [...volume.files].filter(([path]) => isCopied(path))) {
        volume.files.set(to + path.slice(from.length), bytes);
      }
      for (const path of [...volume.directories].filter(isCopied)) {
        volume.directories.add(to + path.slice(from.length));
      }
    },
    async remove(path) {
      for (const name of [...volume.files.keys()])
        if (name === path || name.startsWith(`${path}/`)) volume.files.delete(name);
      for (const name of [...volume.directories]) {
        if (name === path || name.startsWith(`${path}/`)) volume.directories.delete(name);
      }
    },
  };
}
