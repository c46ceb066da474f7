import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbStore } from '../../src/store/lmdb-store.ts';
import { put, remove, type Store, type Table } from '../../src/store/store.ts';
import { mountSmallDisk } from './small-disk.ts';

const WORDS: Table<string> = { name: 'words' };
const disk = mountSmallDisk('12m,nr_inodes=100');
const FULL = { code: 'UNAVAILABLE', reason: 'STORE_FULL', status: 507 };

describe.skipIf(disk === undefined && process.env.CI !== 'true')('LmdbStore on a full disk', () => {
  let store: Store;
  let notified: (string | undefined)[];
  const open = () =>
    openLmdbStore(join(disk!.path, 'store'), [WORDS], { onShortage: (reason) => notified.push(reason) });
  const words = () => [...store.range(WORDS, { from: '', to: '~' })].map(([key, value]) => `${key}=${value}`);
  const outcomes = (results: readonly PromiseSettledResult<void>[]) =>
    results.map((one) => (one.status === 'rejected' ? one.reason.reason : one.status));
  /** What is on disk, not only in memory. */
  const reopened = async () => {
    await store.close();
    store = open();
    return words();
  };
  beforeEach(async () => {
    notified = [];
    store = open();
    for (const key of ['kept', 'k']) await store.commit([remove(WORDS, key)]);
    await store.commit([put(WORDS, 'kept', 'old')]);
  });
  afterEach(async () => {
    disk!.empty();
    await store.close();
  });
  afterAll(() => disk!.unmount());

  it('drops both of two commits to one key: the first does not reappear', async () => {
    disk!.fill();
    const results = await Promise.allSettled(['first', 'second'].map((word) => store.commit([put(WORDS, 'k', word)])));
    expect(outcomes(results)).toEqual(['STORE_FULL', 'STORE_FULL']);
    expect(words()).toEqual(['kept=old']);
    disk!.empty();
    await expect.poll(() => store.shortage).toBeUndefined();
    await store.durable();
    expect(await reopened()).toEqual(['kept=old']);
  });

  it('drops both if LMDB itself hits the full disk, in one transaction and in the next', async () => {
    disk!.fill(2_000_000);
    // Each character takes three bytes but is estimated as one, so the check before the transaction passes.
    const large = '\u754c'.repeat(900_000);
    const first = Promise.allSettled([store.commit([put(WORDS, 'k', `${large}1`)])]);
    // In progress, so that the second is not part of it.
    await new Promise((begun) => setImmediate(begun));
    const second = Promise.allSettled([store.commit([put(WORDS, 'k', `${large}2`)])]);
    const results = [...(await first), ...(await second)];
    expect(outcomes(results)).toEqual(['STORE_FULL', 'STORE_FULL']);
    expect(words()).toEqual(['kept=old']);
    expect(await reopened()).toEqual(['kept=old']);
  });

  it('keeps writes: one after a rejected commit stays, one before it reappears', async () => {
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

  it('has reserved space for writes when commits are already rejected', async () => {
    disk!.fill(700_000);
    await expect(store.commit([put(WORDS, 'k', 'wished')])).rejects.toMatchObject(FULL);
    store.write([put(WORDS, 'kept', 'happened')]);
    await store.durable();
    expect(store.shortage).toMatch(/disk is full/);
    expect(await reopened()).toEqual(['kept=happened']);
  });

  it('needs no inode for what is written when commits are already rejected', async () => {
    disk!.fill(700_000);
    disk!.fillInodes();
    store.write([put(WORDS, 'kept', 'happened')]);
    await store.durable();
    expect(await reopened()).toEqual(['kept=happened']);
  });

  it('releases its reserve for what has happened, on a disk without a free byte, and not for what may wait', async () => {
    disk!.fill();
    store.write([put(WORDS, 'k', 'running')], { canWait: true });
    await expect(store.commit([])).rejects.toMatchObject(FULL);
    disk!.fill();
    store.write([put(WORDS, 'kept', 'happened')]);
    await store.durable();
    expect(await reopened()).toEqual(['k=running', 'kept=happened']);
  });

  it('reports the shortage without a write, rejects immediately, and recovers by itself when space is free', async () => {
    expect(store.shortage).toBeUndefined();
    disk!.fill();
    expect(store.shortage).toMatch(/disk is full/);
    await expect(store.commit([put(WORDS, 'k', 'wished')])).rejects.toMatchObject(FULL);
    // A commit without changes still succeeds.
    await store.commit([]);
    disk!.empty();
    await expect.poll(() => store.shortage).toBeUndefined();
    await store.commit([put(WORDS, 'k', 'done')]);
    expect(notified).toEqual([expect.stringMatching(/disk is full/), undefined]);
    expect(await reopened()).toEqual(['k=done', 'kept=old']);
  });
});
