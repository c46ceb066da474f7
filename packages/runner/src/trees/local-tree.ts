import { readdir } from 'node:fs/promises';
import { bytesToName, nameOnDisk } from '@sluice/client';

/** An entry beneath a local directory; a link is told as such and not followed. */
export interface LocalEntry {
  /** Relative to the directory, `/`-separated, as `bytesToName` gives it. */
  readonly path: string;
  readonly kind: 'file' | 'dir' | 'link' | 'special';
}

/** The place of a relative path in a local directory, as `node:fs` takes it. */
export function placeIn(directory: string, relative: string): string | Buffer {
  return nameOnDisk(relative === '' ? directory : `${directory}/${relative}`);
}

/** Everything beneath a local directory, each directory before what is in it. */
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
