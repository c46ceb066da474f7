import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbStore } from '../../src/store/lmdb-store.ts';
import { mergeRanges } from '../../src/store/merge-ranges.ts';
import { requireVersion, STORE_VERSION } from '../../src/store/require-version.ts';
import { openSequence } from '../../src/store/sequence.ts';
import { put, remove, type Store, type Table } from '../../src/store/store.ts';
import { TABLES } from '../../src/store/tables.ts';

const WORDS: Table<string> = { name: 'words' };
const OTHERS: Table<string> = { name: 'others' };

let directory: string;
let store: Store;
const open = () => openLmdbStore(join(directory, 'store'), [WORDS, OTHERS, ...Object.values(TABLES)]);
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-store-'));
  store = open();
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const all = (table: Table<string>) =>
  [...store.range(table, { from: '', to: '~' })].map(([key, value]) => `${key}=${value}`);

describe('LmdbStore', () => {
  it('reads a write immediately: before, while and after it becomes durable', async () => {
    store.write([put(WORDS, 'a', '1'), put(WORDS, 'b', '2')]);
    expect([store.get(WORDS, 'a'), all(WORDS)]).toEqual(['1', ['a=1', 'b=2']]);
    const durable = store.durable();
    await Promise.resolve();
    store.write([remove(WORDS, 'a'), put(WORDS, 'c', '3')]);
    expect([store.get(WORDS, 'a'), all(WORDS)]).toEqual([undefined, ['b=2', 'c=3']]);
    await durable;
    expect(all(WORDS)).toEqual(['b=2', 'c=3']);
    await store.durable();
    expect(all(WORDS)).toEqual(['b=2', 'c=3']);
  });

  it('reads everything after it is reopened', async () => {
    store.write([put(WORDS, 'a', '1'), put(OTHERS, 'a', '2')]);
    await store.close();
    store = open();
    expect([store.get(WORDS, 'a'), store.get(OTHERS, 'a')]).toEqual(['1', '2']);
  });

  it('limits a range to its bounds', () => {
    store.write(['x/1', 'x/2', 'x-/1', 'x0', 'w/9'].map((key) => put(WORDS, key, '')));
    expect([...store.range(WORDS, { from: 'x/', to: 'x0' })].map(([key]) => key)).toEqual(['x/1', 'x/2']);
    expect([...store.range(WORDS, { from: 'x/1', to: 'x0', after: true })].map(([key]) => key)).toEqual(['x/2']);
  });

  it('finds nothing under a key that is too long, rejects it in a write, and stays usable', async () => {
    for (const key of ['x'.repeat(1025), 'é'.repeat(600), 'x'.repeat(1_000_000)]) {
      expect(store.get(WORDS, key)).toBeUndefined();
      expect(() => store.write([put(WORDS, 'a', '1'), put(WORDS, key, '1')])).toThrow(RangeError);
      await expect(store.commit([put(WORDS, key, '1')])).rejects.toThrow(RangeError);
      expect(() => [...store.range(WORDS, { from: key, to: '~' })]).toThrow(RangeError);
    }
    expect([store.failure, all(WORDS)]).toEqual([undefined, []]);
    const longest = 'x'.repeat(1024);
    await store.commit([put(WORDS, longest, '2')]);
    expect([store.get(WORDS, longest), all(WORDS)]).toEqual(['2', [`${longest}=2`]]);
    expect([...store.range(WORDS, { from: longest, to: '~', after: true })]).toEqual([]);
  });

  it('reads what another process has written', async () => {
    const script = `
      import { open } from 'lmdb';
      const root = open({ path: process.argv[1], maxDbs: 8, overlappingSync: false });
      await root.openDB({ name: 'words' }).put('a', 'theirs');
      await root.close();`;
    store.write([put(WORDS, 'a', 'ours')]);
    await store.durable();
    const cwd = new URL('../..', import.meta.url);
    execFileSync(process.execPath, ['--input-type=module', '-e', script, join(directory, 'store')], { cwd });
    await expect.poll(() => store.get(WORDS, 'a')).toBe('theirs');
  });

  it('flushes canWait writes with other writes, and after a delay without them', async () => {
    const script = `
      import { open } from 'lmdb';
      const root = open({ path: process.argv[1], maxDbs: 8, overlappingSync: false });
      const words = root.openDB({ name: 'words' });
      console.log([words.get('a'), words.get('b')].join());
      await root.close();`;
    const cwd = new URL('../..', import.meta.url);
    const stored = () =>
      execFileSync(process.execPath, ['--input-type=module', '-e', script, join(directory, 'store')], { cwd })
        .toString()
        .trim();
    store.write([put(WORDS, 'a', '1')], { canWait: true });
    expect(store.get(WORDS, 'a')).toBe('1');
    await store.commit([put(WORDS, 'b', '1')]);
    expect(stored()).toBe('1,1');
    store.write([put(WORDS, 'a', '2')], { canWait: true });
    await store.durable();
    expect(stored()).toBe('2,1');
    store.write([put(WORDS, 'a', '3')], { canWait: true });
    await expect.poll(stored).toBe('3,1');
    store.write([put(WORDS, 'a', '4')], { canWait: true });
    await store.close();
    store = open();
    expect(store.get(WORDS, 'a')).toBe('4');
  });

  it('a write after close throws', async () => {
    await store.close();
    expect(() => store.write([put(WORDS, 'a', '1')])).toThrow('the service is closing');
  });
});

describe('openSequence', () => {
  it('grows, sorts as text, and never repeats a number after a restart', async () => {
    const first = openSequence(store);
    const given = Array.from({ length: 100 }, () => first.next());
    await store.close();
    store = open();
    given.push(openSequence(store).next());
    expect(given.toSorted()).toEqual(given);
    expect(new Set(given).size).toBe(given.length);
  });
});

describe('requireVersion', () => {
  it('marks a new store, and rejects a newer and an older one', async () => {
    const version = () => store.get(TABLES.meta, 'schema');
    await requireVersion(store, directory);
    expect(version()).toBe(STORE_VERSION);
    await requireVersion(store, directory);
    store.write([put(TABLES.meta, 'schema', STORE_VERSION + 1)]);
    await expect(requireVersion(store, directory)).rejects.toThrow(`has version ${STORE_VERSION + 1}`);
    store.write([put(TABLES.meta, 'schema', STORE_VERSION - 1)]);
    const message = `an earlier version of this program has written it (version ${STORE_VERSION - 1}, and this one reads only ${STORE_VERSION}); use that program, or move ${directory} away`;
    await expect(requireVersion(store, directory)).rejects.toThrow(message);
    expect(version()).toBe(STORE_VERSION - 1);
  });
});

const key = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 3 });
describe('mergeRanges', () => {
  it('yields what a map of both would, in order', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(key).map((keys) => keys.sort()),
        fc.dictionary(key, fc.option(fc.nat(), { nil: undefined })),
        key,
        key,
        fc.boolean(),
        (stored, fresh, from, to, after) => {
          const range = { from, to, after };
          const inside = (k: string) => (after ? k > from : k >= from) && k < to;
          const entries = stored.filter(inside).map((k) => ({ key: k, value: 'stored' as unknown }));
          const expected = new Map<string, unknown>(entries.map(({ key: k, value }) => [k, value]));
          for (const [k, value] of Object.entries(fresh)) if (inside(k)) expected.set(k, value);
          const merged = [...mergeRanges(entries, new Map(Object.entries(fresh)), range)];
          expect(merged).toEqual(
            [...expected].filter(([, value]) => value !== undefined).sort(([a], [b]) => (a < b ? -1 : 1)),
          );
        },
      ),
    );
  });
});
