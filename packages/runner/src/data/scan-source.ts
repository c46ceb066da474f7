import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { Disk } from '../journal/disk.ts';

/** One file of a local source. */
export interface SourceFile {
  /** Relative to the source, `/`-separated. */
  readonly path: string;
  readonly local: string;
  readonly size: number;
  readonly executable: boolean;
  /** SHA-256, hexadecimal. */
  readonly sha256: string;
}

export interface ScannedSource {
  /** Sorted by path. */
  readonly files: readonly SourceFile[];
  /** Directories without files, sorted. */
  readonly emptyDirectories: readonly string[];
  /** Digest of all names and contents. */
  readonly digest: string;
}

const indexSchema = z.record(
  z.string(),
  z.object({ size: z.number(), modifiedAt: z.number(), changedAt: z.number(), inode: z.number(), sha256: z.string() }),
);
type Index = z.infer<typeof indexSchema>;

/** A file that was changed this shortly before it was hashed may change again without a newer time. */
const RACY_MS = 2000;

/**
 * Reads a directory (or one file) and digests its content. Files whose size, times and inode are those of the last scan
 * are not read again; the time of modification alone can be set to anything, as `cp -p` does. The home is left out where it
 * lies in the source: it has logins, and would change by being uploaded. Throws Node's own errors; links to directories
 * are followed where they do not lead upwards.
 */
export async function scanSource(
  source: string,
  options: { readonly disk: Disk; readonly home: string; readonly now: number },
): Promise<ScannedSource> {
  const name = createHash('sha256').update(source).digest('hex').slice(0, 32);
  const indexPath = path.join(options.home, 'sources', `${name}.json`);
  const index = await readIndex(options.disk, indexPath);
  const next: Index = {};
  const found = await listTree(source, options.home);
  const files: SourceFile[] = [];
  for (const entry of found.files) {
    const known = index[entry.path];
    const isSame =
      known &&
      known.size === entry.size &&
      known.modifiedAt === entry.modifiedAt &&
      known.changedAt === entry.changedAt &&
      known.inode === entry.inode;
    const sha256 = isSame ? known.sha256 : await hashFile(entry.local);
    const { path: at, local, size, executable, modifiedAt, changedAt, inode } = entry;
    files.push({ path: at, local, size, executable, sha256 });
    if (options.now - Math.max(modifiedAt, changedAt) > RACY_MS) {
      next[at] = { size, modifiedAt, changedAt, inode, sha256 };
    }
  }
  if (JSON.stringify(next) !== JSON.stringify(index)) {
    await options.disk.replace(indexPath, Buffer.from(JSON.stringify(next)));
  }
  return { files, emptyDirectories: found.emptyDirectories, digest: digestOf(files, found.emptyDirectories) };
}

function digestOf(files: readonly SourceFile[], emptyDirectories: readonly string[]): string {
  const hash = createHash('sha256');
  for (const { path: at, sha256, executable } of files) hash.update(`${at}\0${executable ? 'x' : '-'}\0${sha256}\n`);
  for (const at of emptyDirectories) hash.update(`${at}\0d\n`);
  return hash.digest('hex').slice(0, 40);
}

async function readIndex(disk: Disk, file: string): Promise<Index> {
  const bytes = await disk.read(file);
  if (!bytes) return {};
  try {
    return indexSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return {};
  }
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

type Found = Omit<SourceFile, 'sha256'> & {
  readonly modifiedAt: number;
  /** When anything of it was changed last, by the system's own clock. */
  readonly changedAt: number;
  readonly inode: number;
};

async function listTree(source: string, home: string): Promise<{ files: Found[]; emptyDirectories: string[] }> {
  const homeIdentity = await stat(home).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => undefined,
  );
  const files: Found[] = [];
  const emptyDirectories: string[] = [];
  const add = async (local: string, at: string, above: readonly string[]): Promise<void> => {
    const { size, mtimeMs, ctimeMs, ino, mode, dev, ...kind } = await stat(local).then((found) => ({
      ...found,
      isDirectory: found.isDirectory(),
      isFile: found.isFile(),
    }));
    if (kind.isFile) {
      const executable = (mode & 0o111) !== 0;
      files.push({ path: at, local, size, executable, modifiedAt: mtimeMs, changedAt: ctimeMs, inode: ino });
      return;
    }
    const identity = `${dev}:${ino}`;
    if (!kind.isDirectory || above.includes(identity) || (identity === homeIdentity && at !== '')) return;
    const names = (await readdir(local)).sort();
    if (names.length === 0 && at !== '') emptyDirectories.push(at);
    for (const name of names)
      await add(path.join(local, name), at === '' ? name : `${at}/${name}`, [...above, identity]);
  };
  const isDirectory = (await stat(source)).isDirectory();
  await add(source, isDirectory ? '' : path.basename(source), []);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, emptyDirectories: emptyDirectories.sort() };
}
