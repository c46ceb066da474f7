import { type FileEntry, ServiceError, type VolumeFiles } from '@sluice/client';
import { expect, test } from 'vitest';
import { transferTree } from '../../src/trees/transfer-tree.ts';

const entry = (kind: FileEntry['kind'], path: string): FileEntry => ({ path, kind, size: 1, modifiedAt: 0 });

/** A volume of many files, and one that takes them: the first of them is rejected, the others take their time. */
function createVolumes(count: number) {
  const entries = Array.from({ length: count }, (_, n) => entry('file', `runs/x/f${n}`));
  const writing = new Set<string>();
  let begun = 0;
  const from = {
    stat: async (path: string) => entry('dir', path),
    list: async () => entries,
    async *read() {
      yield Buffer.from('x');
    },
  } as unknown as VolumeFiles;
  const to = {
    list: async () => [],
    makeDirectory: async () => {},
    async write(path: string) {
      begun++;
      if (path.endsWith('/f0')) throw new ServiceError('UNAVAILABLE', 'the volume is full');
      writing.add(path);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      writing.delete(path);
    },
  } as unknown as VolumeFiles;
  return { from, to, writing, begun: () => begun };
}

test('forEachFile has nothing in progress when it fails, and starts nothing after that', async () => {
  const volumes = createVolumes(1000);
  await expect(transferTree({ ...volumes, path: 'runs/x' })).rejects.toMatchObject({ message: 'the volume is full' });
  expect([...volumes.writing]).toEqual([]);
  expect(volumes.begun()).toBeLessThanOrEqual(8);
});
