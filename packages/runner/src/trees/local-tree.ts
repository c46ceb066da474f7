import { readdir } from 'node:fs/promises';
import { bytesToName, nameOnDisk } from '@sluice/client';

/** An entry of a local tree. Links are not followed. */
export interface LocalEntry {
  /** Relative to the directory, `/`-separated, in the form that `bytesToName` returns. */
  readonly path: string;
  readonly kind: 'file' | 'dir' | 'link' | 'special';
}

/** The path of an entry of a local directory, in the form that `node:fs` needs for any file name. */
export function placeIn(directory: string, relative: string): string | Buffer {
  return nameOnDisk(relative === '' ? directory : `${directory}/${relative}`);
}

/** All entries of a local tree, each directory before its content. */
export async function* walkLocalTree(directory: string): AsyncGenerator<LocalEntry> {
  const open = [''];
  for (let above = open.pop(); above !== undefined; above = open.pop()) {
    const entries = await readdir(placeIn(directory, above), { withFileTypes: true, encoding: 'buffer' });
    for (const entry of entries) {
      const name = bytesToName(entry.name);
      const path = above === '' ? name : `${above}/${name}`;
      const kind = kindOf(entry);
      if (kind === 'dir') open.push(path);
      yield { path, kind };
    }
  }
}

function kindOf(entry: Record<'isFile' | 'isDirectory' | 'isSymbolicLink', () => boolean>): LocalEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'dir';
  return entry.isSymbolicLink() ? 'link' : 'special';
}
