import type { FileEntry, VolumeFiles } from '@sluice/client';
import { describe, expect, test } from 'vitest';
import { transferTree } from '../../src/trees/transfer-tree.ts';

/** A volume of flat files in the directory `d`. `log` gets each write. */
function createVolume(given: Readonly<Record<string, string>>, executable: readonly string[] = []) {
  const content = new Map(Object.entries(given));
  const runs = new Set(executable);
  const log: string[] = [];
  const entry = (name: string): FileEntry => ({
    path: `d/${name}`,
    kind: 'file',
    size: Buffer.byteLength(content.get(name)!),
    modifiedAt: 0,
    executable: runs.has(name),
  });
  const nameOf = (path: string) => path.slice(2);
  const files = {
    stat: async (path: string) => ({ path, kind: 'dir', size: 0, modifiedAt: 0 }),
    list: async () => [...content.keys()].map(entry),
    makeDirectory: async () => {},
    async *read(path: string) {
      yield Buffer.from(content.get(nameOf(path))!);
    },
    async write(path: string, bytes: AsyncIterable<Uint8Array>, options?: { readonly executable?: boolean }) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of bytes) chunks.push(chunk);
      content.set(nameOf(path), Buffer.concat(chunks).toString());
      if (options?.executable) runs.add(nameOf(path));
      else runs.delete(nameOf(path));
      log.push(nameOf(path));
    },
  } as unknown as VolumeFiles;
  return { files, content, runs, log };
}

describe('transferTree', () => {
  test('transferTree replaces a file of equal size with other content, and sends equal ones not again', async () => {
    const from = createVolume({ a: 'one', b: 'two', c: 'run', d: 'new' }, ['c']);
    const to = createVolume({ a: 'one', b: 'TWO', c: 'run' });
    await transferTree({ from: from.files, to: to.files, path: 'd' });
    expect(Object.fromEntries(to.content)).toEqual(Object.fromEntries(from.content));
    expect([...to.runs]).toEqual(['c']);
    expect(to.log.sort()).toEqual(['b', 'c', 'd']);
  });

  test('transferTree reads a file that an earlier try has copied only once', async () => {
    const from = createVolume({ a: 'one', b: 'two' });
    const to = createVolume({});
    const copied = new Set<string>();
    await transferTree({ from: from.files, to: to.files, path: 'd', copied });
    const reads: string[] = [];
    const read: VolumeFiles['read'] = (path) => {
      reads.push(path);
      return from.files.read(path);
    };
    to.content.delete('b');
    await transferTree({ from: { ...from.files, read }, to: to.files, path: 'd', copied });
    expect(reads).toEqual(['d/b']);
    expect(to.content.get('b')).toBe('two');
  });
});
