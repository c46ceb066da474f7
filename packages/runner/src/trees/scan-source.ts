import { createHash } from 'node:crypto';
import path from 'node:path';
import { nameToBytes } from '@sluice/client';
import { own } from '@sluice/core';
import type { Disk } from '@sluice/home';
import { z } from 'zod';
import { hashLocalFile } from './hash-local-file.ts';
import { listSource, type SourceLink, type SourceOptions } from './list-source.ts';

/** One file of a local source. */
export interface SourceFile {
  /** Relative to the source, `/`-separated. */
  readonly path: string;
  readonly local: string | Buffer;
  readonly size: number;
  readonly executable: boolean;
  /** SHA-256, hexadecimal. */
  readonly sha256: string;
}

/** The content of a local source. */
export interface ScannedSource {
  /** Sorted by path. */
  readonly files: readonly SourceFile[];
  /** Sorted by path. */
  readonly links: readonly SourceLink[];
  /** Directories without an entry that belongs to the source, sorted. */
  readonly emptyDirectories: readonly string[];
  /** Messages about entries that were left out. */
  readonly warnings: readonly string[];
  /** Digest of all names, contents and executable bits. */
  readonly digest: string;
}

const indexSchema = z.record(
  z.string(),
  z.object({ size: z.number(), modifiedAt: z.number(), changedAt: z.number(), inode: z.number(), sha256: z.string() }),
);
type Index = z.infer<typeof indexSchema>;

/** A file that was changed within this time before it was hashed may change again without a newer timestamp. */
const RACY_MS = 2000;

/**
 * Reads a directory (or one file) and computes the digest of its content. Files with the size, times and inode of the last
 * scan are not read again; the modification time alone is not sufficient, since `cp -p` sets it. Throws like `listSource`.
 */
export async function scanSource(
  source: string,
  options: SourceOptions & { readonly disk: Disk; readonly now: number },
): Promise<ScannedSource> {
  const name = createHash('sha256').update(source).digest('hex').slice(0, 32);
  const indexPath = path.join(options.home, 'sources', `${name}.json`);
  const index = await readIndex(options.disk, indexPath);
  const next = new Map<string, Index[string]>();
  const found = await listSource(source, options);
  const files: SourceFile[] = [];
  for (const { path: at, local, stats } of found.files) {
    const { size, mode, ino: inode, mtimeMs: modifiedAt, ctimeMs: changedAt } = stats;
    const known = own(index, at);
    const isSame =
      known &&
      known.size === size &&
      known.modifiedAt === modifiedAt &&
      known.changedAt === changedAt &&
      known.inode === inode;
    const sha256 = isSame ? known.sha256 : await hashLocalFile(local);
    files.push({ path: at, local, size, executable: (mode & 0o111) !== 0, sha256 });
    if (options.now - Math.max(modifiedAt, changedAt) > RACY_MS) {
      next.set(at, { size, modifiedAt, changedAt, inode, sha256 });
    }
  }
  const text = JSON.stringify(Object.fromEntries(next));
  if (text !== JSON.stringify(index)) await options.disk.replace(indexPath, Buffer.from(text));
  return { ...found, files, digest: digestOf({ ...found, files }) };
}

function digestOf({ files, links, emptyDirectories }: Omit<ScannedSource, 'digest'>): string {
  const hash = createHash('sha256');
  const add = (...fields: string[]) => hash.update(nameToBytes(`${fields.join('\0')}\n`));
  for (const { path: at, sha256, executable } of files) add(at, executable ? 'x' : '-', sha256);
  for (const at of emptyDirectories) add(at, 'd');
  for (const { path: at, target } of links) add(at, 'l', target);
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
