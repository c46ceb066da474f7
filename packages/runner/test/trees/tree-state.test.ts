import type { FileEntry, VolumeFiles } from '@sluice/client';
import { expect, test } from 'vitest';
import { findTreeChange, readTreeState } from '../../src/trees/tree-state.ts';

/** The files of a volume that has these, with the directories above them, and empty directories that end in `/`. */
function volumeWith(paths: readonly string[]): VolumeFiles {
  const entries = new Map<string, FileEntry>();
  for (const path of paths) {
    const parts = path.split('/');
    for (const [index, name] of parts.entries()) {
      if (name === '') continue;
      const at = parts.slice(0, index + 1).join('/');
      const isFile = index === parts.length - 1;
      entries.set(at, { path: at, kind: isFile ? 'file' : 'dir', size: 0, modifiedAt: 0, ...(isFile && { etag: at }) });
    }
  }
  const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
  return {
    stat: async (path: string) => entries.get(path),
    list: async (path: string) => [...entries.values()].filter((entry) => parentOf(entry.path) === path),
  } as unknown as VolumeFiles;
}

const CELLS = ['all/A/p1/f', 'all/A/p2/f', 'all/manifest.json'];

test('mount points for cells that are elsewhere do not change a directory of nested cells; a file does', async () => {
  const was = await readTreeState(volumeWith(CELLS), { volumeID: 'v', path: 'all', hasCells: true });
  expect(await findTreeChange(volumeWith([...CELLS, 'all/A/p3/', 'all/B/p1/']), { was })).toBeUndefined();
  expect(await findTreeChange(volumeWith([...CELLS, 'all/A/p3/g']), { was })).toMatchObject({
    path: 'A/p3/g',
    how: 'added',
  });
  expect(await findTreeChange(volumeWith(['all/A/p1/f', 'all/A/p2/']), { was })).toMatchObject({
    path: 'A/p2/f',
    how: 'removed',
  });
});

test('a state with nested directories, as an earlier version recorded it, is the same without them', async () => {
  const was = await readTreeState(volumeWith(CELLS), { volumeID: 'v', path: 'all', hasCells: true });
  const nested = { path: 'A/p1', kind: 'dir', size: 0, modifiedAt: 0 } as const;
  const recorded = { ...was, entries: [nested, ...was.entries] };
  expect(await findTreeChange(volumeWith(CELLS), { was: recorded })).toBeUndefined();
  expect(await findTreeChange(volumeWith(CELLS), { was: recorded, only: 'all/A' })).toBeUndefined();
});

test('an empty directory changes the tree of one output', async () => {
  const was = await readTreeState(volumeWith(['one/f']), { volumeID: 'v', path: 'one' });
  expect(await findTreeChange(volumeWith(['one/f', 'one/d/']), { was })).toMatchObject({ path: 'd', how: 'added' });
});
