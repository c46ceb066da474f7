import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSecretStore, SECRETS_FILE } from '../../src/hosted/secret-store.ts';

const RUN = 'aaaaaaaaaaaaa';
const OTHER = 'bbbbbbbbbbbbb';
let home: string;
let key: Uint8Array | undefined;
let lines: string[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'secrets-'));
  for (const runId of [RUN, OTHER]) mkdirSync(join(home, 'runs', runId), { recursive: true });
  key = randomBytes(32);
  lines = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const fileOf = (runId: string) => join(home, 'runs', runId, SECRETS_FILE);

const openStore = (account = 'main/physics') =>
  createSecretStore({
    ...{ home, account, log: (line: string) => void lines.push(line) },
    async createKey() {
      if (key === undefined) throw new Error('no key can be created');
      return key;
    },
    readKey: () => key,
  });

async function seal(runId = RUN): Promise<void> {
  writeFileSync(fileOf(runId), await openStore().seal(runId, { token: 'very-secret' }));
}

test('a later process reads what was sealed, and nothing else', async () => {
  await seal();
  expect(readFileSync(fileOf(RUN)).includes('very-secret')).toBe(false);
  const store = openStore();
  expect([store.read(RUN, 'token'), store.read(RUN, 'toString'), store.read(OTHER, 'token')]).toEqual([
    'very-secret',
    undefined,
    undefined,
  ]);
});

test('secrets cannot be read as those of another run or account, with another key, or if they were changed', async () => {
  await seal();
  writeFileSync(fileOf(OTHER), readFileSync(fileOf(RUN)));
  expect(openStore().read(OTHER, 'token')).toBeUndefined();
  expect(openStore('main/chemistry').read(RUN, 'token')).toBeUndefined();
  const bytes = readFileSync(fileOf(RUN));
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(fileOf(OTHER), bytes);
  expect(openStore().read(OTHER, 'token')).toBeUndefined();
  key = randomBytes(32);
  expect(openStore().read(RUN, 'token')).toBeUndefined();
  key = undefined;
  expect(openStore().read(RUN, 'token')).toBeUndefined();
  expect(lines.map((line) => line.split(': ').slice(0, 2).join(': '))).toEqual([
    ...[OTHER, RUN, OTHER, RUN, RUN].map((runId) => `run ${runId}: could not decrypt its secrets`),
  ]);
  expect(lines.at(-1)).toContain('the key file is missing');
});

test('a server without a key stores nothing, and tells the client to ask the operator', async () => {
  key = undefined;
  await expect(openStore().seal(RUN, { token: 'x' })).rejects.toMatchObject({
    ...{ status: 503, reason: 'SECRETS_UNAVAILABLE', message: expect.stringContaining('ask its operator') },
  });
  expect(lines).toEqual([`run ${RUN}: could not encrypt its secrets: no key can be created`]);
});

test('remove deletes the secrets, what a killed process has left of them, and what is in memory', async () => {
  await seal();
  writeFileSync(`${fileOf(RUN)}.tmp-1`, 'x');
  const store = openStore();
  expect(store.read(RUN, 'token')).toBe('very-secret');
  await store.remove(RUN);
  expect(readdirSync(join(home, 'runs', RUN))).toEqual([]);
  expect(store.read(RUN, 'token')).toBeUndefined();
  await store.remove('ccccccccccccc');
});
