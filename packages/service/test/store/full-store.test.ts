import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbStore } from '../../src/store/lmdb-store.ts';
import { put, remove, type Store, type Table } from '../../src/store/store.ts';
import { mountSmallDisk } from './small-disk.ts';

const WORDS: Table<string> = { name: 'words' };
const disk = mountSmallDisk('12m');
const FULL = { code: 'UNAVAILABLE', reason: 'STORE_FULL', status: 507 };

describe.skipIf(disk === undefined && process.env.CI !== 'true')('LmdbStore on a full disk', () => {
  let store: Store;
  let heard: (string | undefined)[];
  const open = () => openLmdbStore(join(disk!.path, 'store'), [WORDS], { onShortage: (reason) => heard.push(reason) });
  const words = () => [...store.range(WORDS, { from: '', to: '~' })].map(([key, value]) => `${key}=${value}`);
  const outcomes = (results: readonly PromiseSettledResult<void>[]) =>
    results.map((one) => (one.status === 'rejected' ? one.reason.reason : one.status));
  /** What is on the disk, and not only in memory. */
  const reopened = async () => {
    await store.close();
    store = open();
    return words();
  };
  beforeEach(async () => {
    heard = [];
    store = open();
    for (const key of ['kept', 'k']) await store.commit([remove(WORDS, key)]);
    await store.commit([put(WORDS, 'kept', 'old')]);
  });
  afterEach(async () => {
    disk!.empty();
    await store.close();
  });
  afterAll(() => disk!.unmount());

  it('drops both of two commits to one key: the first does not come back', async () => {
    disk!.fill();
    const results = await Promise.allSettled(['first', 'second'].map((word) => store.commit([put(WORDS, 'k', word)])));
    expect(outcomes(results)).toEqual(['STORE_FULL', 'STORE_FULL']);
    expect(words()).toEqual(['kept=old']);
    disk!.empty();
    await expect.poll(() => store.shortage, { timeout: 10_000 }).toBeUndefined();
    await store.durable();
    expect(await reopened()).toEqual(['kept=old']);
  });

  it('drops both where LMDB itself meets the end of the disk, in one transaction and the next', async () => {
    disk!.fill(2_000_000);
    // Its characters take three bytes each, and are counted as one: the look before the transaction finds it to fit.
    const large = '\u754c'.repeat(900_000);
    const first = Promise.allSettled([store.commit([put(WORDS, 'k', `${large}1`)])]);
    // Begun, so that the second cannot go along with it.
    await new Promise((begun) => setImmediate(begun));
    const second = Promise.allSettled([store.commit([put(WORDS, 'k', `${large}2`)])]);
    const results = [...(await first), ...(await second)];
    expect(outcomes(results)).toEqual(['STORE_FULL', 'STORE_FULL']);
    expect(words()).toEqual(['kept=old']);
    expect(await reopened()).toEqual(['kept=old']);
  });

  it('keeps what has happened: a write over a refused commit stays, one under it comes back', async () => {
    disk!.fill();
    store.write([put(WORDS, 'kept', 'happened')]);
    const over = store.commit([put(WORDS, 'kept', 'wished'), put(WORDS, 'k', 'wished')]);
    store.write([put(WORDS, 'k', 'happened')]);
    await expect(over).rejects.toMatchObject(FULL);
    expect(words()).toEqual(['k=happened', 'kept=happened']);
    const durable = store.durable();
    disk!.empty();
    await durable;
    expect(await reopened()).toEqual(['k=happened', 'kept=happened']);
  });

  it('has room for what has happened where new things are refused already', async () => {
    disk!.fill(700_000);
    await expect(store.commit([put(WORDS, 'k', 'wished')])).rejects.toMatchObject(FULL);
    store.write([put(WORDS, 'kept', 'happened')]);
    await store.durable();
    expect(store.shortage).toMatch(/disk is full/);
    expect(await reopened()).toEqual(['kept=happened']);
  });

  it('tells of the shortage without a write, refuses at once, and forgets it by itself once there is room', async () => {
    expect(store.shortage).toBeUndefined();
    disk!.fill();
    expect(store.shortage).toMatch(/disk is full/);
    await expect(store.commit([put(WORDS, 'k', 'wished')])).rejects.toMatchObject(FULL);
    // What waits for nothing new is answered as ever.
    await store.commit([]);
    disk!.empty();
    await expect.poll(() => store.shortage, { timeout: 10_000 }).toBeUndefined();
    await store.commit([put(WORDS, 'k', 'done')]);
    expect(heard).toEqual([expect.stringMatching(/disk is full/), undefined]);
    expect(await reopened()).toEqual(['k=done', 'kept=old']);
  });
});
