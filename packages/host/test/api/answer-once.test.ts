import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addRunApi } from '../../src/api/add-run-api.ts';
import { MAX_KEYS } from '../../src/api/key-store.ts';
import { openRunApi, type RunExecutor } from '../../src/api/run-api.ts';
import { API_PREFIX } from '../../src/index.ts';

const done = { ok: true, value: undefined } as const;

let homes: string[];
let servers: FastifyInstance[];

beforeEach(() => {
  homes = [];
  servers = [];
});

afterEach(async () => {
  for (const server of servers) await server.close();
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

function createHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'sluice-answer-once-'));
  homes.push(home);
  return home;
}

/** Serves a home. `start` receives the ID of each run that is started. */
async function serve(home: string, start: RunExecutor['start']) {
  const server = Fastify();
  servers.push(server);
  const executor: RunExecutor = {
    resume: async () => done,
    preview: async () => ({ ok: true, value: { reused: [], run: ['a'] } }),
    createOrder: async () => ({ ok: true, value: { file: '/p.yaml', params: {} } }),
    delete: async () => ({ ok: true, value: true }),
    listPipelines: async () => [],
    start,
  };
  await addRunApi(server, openRunApi({ home, executor, userName: 'tester' }));
  const post = async (key: string, body: object = {}) => {
    const headers = { 'idempotency-key': key };
    const url = `${API_PREFIX}/runs`;
    const reply = await server.inject({ method: 'POST', url, headers, payload: { file: '/p.yaml', ...body } });
    return { ...(JSON.parse(reply.body) as { runId?: string }), status: reply.statusCode };
  };
  return { post, directory: join(home, 'host', 'replies') };
}

test('one key in two homes starts two runs with different IDs', async () => {
  const started: string[] = [];
  for (const home of [createHome(), createHome()]) {
    const { post } = await serve(home, async (_, runId) => {
      started.push(runId);
      return done;
    });
    expect(await post('build-42')).toMatchObject({ status: 200, runId: started.at(-1) });
    expect(await post('build-42')).toMatchObject({ status: 200, runId: started.at(-1) });
  }
  expect(new Set(started).size).toBe(2);
  expect(started).toHaveLength(2);
});

test('a key that is used again after a day starts another run', async () => {
  const started: string[] = [];
  const { post, directory } = await serve(createHome(), async (_, runId) => {
    started.push(runId);
    return done;
  });
  const first = await post('nightly');
  const yesterday = Date.now() / 1000 - 90_000;
  for (const name of readdirSync(directory)) utimesSync(join(directory, name), yesterday, yesterday);
  const second = await post('nightly');
  expect(started).toEqual([first.runId, second.runId]);
  expect(second.runId).not.toBe(first.runId);
});

test('a request that is repeated after its reply was lost, or after an error, starts the same run', async () => {
  const started: string[] = [];
  let fault = true;
  const home = createHome();
  const start: RunExecutor['start'] = async (_, runId) => {
    started.push(runId);
    if (!fault) return done;
    fault = false;
    throw new Error('cut');
  };
  const { post, directory } = await serve(home, start);
  expect(await post('once')).toMatchObject({ status: 500 });
  expect(await post('once')).toMatchObject({ status: 200, runId: started[0] });
  // As if the process had been killed before it stored the reply.
  for (const name of readdirSync(directory)) {
    const { reply: _, ...stored } = JSON.parse(readFileSync(join(directory, name), 'utf8')) as { reply: object };
    writeFileSync(join(directory, name), JSON.stringify(stored));
  }
  const later = await serve(home, start);
  expect(await later.post('once')).toMatchObject({ status: 200, runId: started[0] });
  expect(new Set(started).size).toBe(1);
  expect(started).toHaveLength(3);
});

test('the key of a request that was rejected before anything began is not kept', async () => {
  const { post, directory } = await serve(createHome(), async () => ({ ok: false, error: 'no' }));
  for (let at = 0; at < 5; at++) expect(await post(`key-${at}`)).toMatchObject({ status: 409 });
  expect(readdirSync(directory)).toEqual([]);
});

test('the key of a request that was rejected after its run had begun is kept', async () => {
  const home = createHome();
  const started: string[] = [];
  const { post } = await serve(home, async (_, runId) => {
    started.push(runId);
    mkdirSync(join(home, 'runs', runId), { recursive: true });
    return started.length === 1 ? { ok: false, error: 'no' } : done;
  });
  expect(await post('once')).toMatchObject({ status: 409 });
  expect(await post('once')).toMatchObject({ status: 200, runId: started[0] });
});

test('a request with a new key is rejected when the home has too many, and starts nothing', async () => {
  const started: string[] = [];
  const { post, directory } = await serve(createHome(), async (_, runId) => {
    started.push(runId);
    return done;
  });
  const first = await post('first');
  for (let at = 1; at < MAX_KEYS; at++) writeFileSync(join(directory, `${at}.json`), '{}');
  expect(await post('another')).toMatchObject({ status: 429, details: [{ reason: 'QUOTA_EXCEEDED' }] });
  expect(await post('first')).toMatchObject({ status: 200, runId: first.runId });
  expect(started).toHaveLength(1);
});

test('a key belongs to the first request that succeeded with it, and a dry run uses no key', async () => {
  const started: string[] = [];
  const { post } = await serve(createHome(), async (_, runId) => {
    started.push(runId);
    return started.length === 1 ? { ok: false, error: 'no' } : done;
  });
  expect(await post('k', { dryRun: true })).toMatchObject({ status: 200 });
  expect(await post('k', { params: { x: 1 } })).toMatchObject({ status: 409 });
  expect(await post('k', { params: { x: 2 } })).toMatchObject({ status: 200, runId: started[1] });
  expect(await post('k', { params: { x: 1 } })).toMatchObject({ status: 409, details: [{ reason: 'KEY_REUSED' }] });
  expect(new Set(started).size).toBe(2);
});
