import { fsyncSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openPropertyStore } from '../../../src/volumes/webdav/property-store.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

// The real calls, watched: which of them comes first is what a power cut would show.
vi.mock('node:fs', { spy: true });

test('the properties are on disk before they take the place of the old ones, and their name before it returns', () => {
  const store = openPropertyStore(join(temporaryDirectory(), 'properties'));
  store.set('a', [{ namespace: 'x:', local: 'color', xml: '<color xmlns="x:">red</color>' }]);
  const [synced, named] = vi.mocked(fsyncSync).mock.invocationCallOrder;
  const [renamed] = vi.mocked(renameSync).mock.invocationCallOrder;
  expect(synced).toBeLessThan(renamed!);
  expect(renamed).toBeLessThan(named!);
  expect(openPropertyStore(join(temporaryDirectory(), 'none')).of('a')).toEqual([]);
  expect(store.of('a')).toHaveLength(1);
});
