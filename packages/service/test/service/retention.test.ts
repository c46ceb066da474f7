import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { startRetention } from '../../src/service/retention.ts';
import { openRetentionTime } from '../../src/service/retention-time.ts';
import { openLmdbStore } from '../../src/store/lmdb-store.ts';
import { put, type Store } from '../../src/store/store.ts';
import { TABLES, timeKey } from '../../src/store/tables.ts';
import { VirtualClock } from '../fakes/virtual-clock.ts';

test('startRetention removes expired tokens, and reads all of them only once per interval', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-retention-'));
  const store = openLmdbStore(directory, Object.values(TABLES));
  const clock = new VirtualClock();
  const now = clock.now();
  let looks = 0;
  const counting: Store = {
    get: (table, key) => store.get(table, key),
    range(table, range) {
      if (table.name === TABLES.tokens.name && range.from === '') looks++;
      return store.range(table, range);
    },
    write: (changes, options) => store.write(changes, options),
    durable: () => store.durable(),
    commit: (changes) => store.commit(changes),
    failure: undefined,
    shortage: undefined,
    close: () => store.close(),
  };
  const token = (i: number) =>
    put(TABLES.tokens, `t${String(i).padStart(5, '0')}`, {
      ...{ email: 'a@example.org', createTime: now, passwordTime: now },
      expireTime: i % 2 === 0 ? now : now + 60_000_000,
    });
  await store.commit(Array.from({ length: 1200 }, (_, i) => token(i)));
  // Of containers without rows, each due a second after the previous one.
  await store.commit(
    Array.from({ length: 50 }, (_, i) =>
      put(TABLES.endedContainers, `${timeKey(now + i * 1000)}/one/mine/c${i}`, true),
    ),
  );
  const log = pino({ level: 'silent' });
  const stop = startRetention({
    ...{ store: counting, clock, time: openRetentionTime({ store, clock, log }), log, clusters: new Map() },
    ...{ volumes: undefined as never, containerMs: 0, volumeMs: 0 },
  });
  onTestFinished(async () => {
    await stop();
    await store.close();
    rmSync(directory, { recursive: true });
  });
  const left = () => [...store.range(TABLES.tokens, { from: '', to: '~' })].length;
  await expect.poll(left).toBe(600);
  await clock.advance(100_000);
  await expect.poll(() => [...store.range(TABLES.endedContainers, { from: '', to: '~' })].length).toBe(0);
  expect(looks).toBe(1);
  await clock.advance(600_000);
  await expect.poll(() => looks).toBe(2);
});
