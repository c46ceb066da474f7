import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MAX_KEYS, openKeyStore } from '../../src/api/key-store.ts';

const DAY_MS = 86_400_000;
const VALUE = { request: 'a'.repeat(64), runId: 'aaaaaaaaaaaaa' };

let home: string;
let directory: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-keys-'));
  directory = join(home, 'host', 'replies');
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

test('of many new keys at once, only as many are stored as a home may have', async () => {
  const keys = openKeyStore(home, Date.now);
  await keys.write('first.json', VALUE);
  for (let at = 0; at < MAX_KEYS - 4; at++) writeFileSync(join(directory, `${at}.old`), '');
  const written = await Promise.allSettled(Array.from({ length: 20 }, (_, at) => keys.write(`${at}.json`, VALUE)));
  expect(written.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  expect(readdirSync(directory)).toHaveLength(MAX_KEYS);
});

test('a clock that is set far ahead forgets no key', async () => {
  const now = Date.now();
  const keys = openKeyStore(home, () => now);
  await keys.write('a.json', VALUE);
  // The file system uses the machine's clock.
  utimesSync(join(directory, 'a.json'), now / 1000, now / 1000);
  expect(await openKeyStore(home, () => now).read('a.json')).toEqual(VALUE);
  expect(await openKeyStore(home, () => now + 2 * DAY_MS).read('a.json')).toBeUndefined();
});

test('a key that was stored while the clock was set far ahead is forgotten after a day', async () => {
  // Retention uses an earlier time than the machine's clock, which stamps the files.
  const believed = Date.now() - 365 * DAY_MS;
  await openKeyStore(home, () => believed).write('a.json', VALUE);
  expect(await openKeyStore(home, () => believed + DAY_MS / 2).read('a.json')).toEqual(VALUE);
  const later = openKeyStore(home, () => believed + 2 * DAY_MS);
  expect(await later.read('a.json')).toBeUndefined();
  await later.write('b.json', VALUE);
  expect(existsSync(join(directory, 'a.json'))).toBe(false);
});

test('old keys are searched once for many requests', async () => {
  const keys = openKeyStore(home, Date.now);
  await keys.write('a.json', VALUE);
  const old = (Date.now() - 2 * DAY_MS) / 1000;
  writeFileSync(join(directory, 'old.json'), '{}');
  utimesSync(join(directory, 'old.json'), old, old);
  await keys.write('b.json', VALUE);
  expect(existsSync(join(directory, 'old.json'))).toBe(true);
  await openKeyStore(home, Date.now).write('c.json', VALUE);
  expect(existsSync(join(directory, 'old.json'))).toBe(false);
});
