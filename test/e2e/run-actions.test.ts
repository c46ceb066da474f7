import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listRuns, readRun } from '@sluice/home';
import type { ActionReply, PlannedTimeList, RunExecutor } from '@sluice/host';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServedApi, serveRunApi } from './run-api-rig.ts';
import { createWorkplace, type Started, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: actions
steps:
  first: { command: 'true' }
  check: { approval: {}, needs: [first] }
  after: { command: 'true', needs: [check] }
`;

let place: Workplace;
let api: ServedApi;
let runner: Started;
let runId: string;

beforeEach(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  api = await serveRunApi({ home: place.home });
  runner = place.start(['run', 'pipeline.yaml']);
  await until(async () => {
    const reply = await fetch(`${api.url}/runs?status=running`);
    const { runs } = (await reply.json()) as { runs: { runId: string; waitsForApproval?: boolean }[] };
    runId = runs[0]?.runId ?? '';
    return runs[0]?.waitsForApproval === true;
  }, 'the approval');
});

afterEach(async () => {
  runner.process.kill('SIGKILL');
  await runner.ended;
  await api.close();
  place.remove();
});

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const reply = await fetch(`${api.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: reply.status, value: (await reply.json()) as ActionReply & { details: { reason: string }[] } };
}

const statuses = async () => {
  const { states } = (await (await fetch(`${api.url}/runs/${runId}/states`)).json()) as { states: string[] };
  return states.join('');
};

test('a dry run changes nothing and names the command; an approval lets the run continue', async () => {
  const dry = await post(`/runs/${runId}:approve`, { step: 'check', dryRun: true });
  expect(dry.value).toMatchObject({ runId, dryRun: true, command: `sluice approve -r ${runId} check` });
  expect(await statuses()).toBe('saw');
  const key = { 'idempotency-key': 'once' };
  // Of requests with one key at the same time, only one acts.
  const [approved, ...others] = await Promise.all(
    [1, 2, 3].map(() => post(`/runs/${runId}:approve`, { step: 'check' }, key)),
  );
  expect(others).toEqual([approved, approved]);
  expect(approved).toMatchObject({ status: 200, value: { dryRun: false } });
  expect(await runner.ended).toMatchObject({ exitCode: 0 });
  // Repeated, also at another server: the first reply.
  expect(await post(`/runs/${runId}:approve`, { step: 'check' }, key)).toEqual(approved);
  await api.kill();
  api = await serveRunApi({ home: place.home });
  expect(await post(`/runs/${runId}:approve`, { step: 'check' }, key)).toEqual(approved);
  expect(await post(`/runs/${runId}:reject`, { step: 'check' }, key)).toMatchObject({
    status: 409,
    value: { details: [{ reason: 'KEY_REUSED' }] },
  });
  expect(await post(`/runs/${runId}:approve`, { step: 'check' })).toMatchObject({
    status: 409,
    value: { details: [{ reason: 'RUN_FINISHED' }] },
  });
});

test('a rejected step fails, with the name of the user in the journal', async () => {
  expect(await post(`/runs/${runId}:reject`, { step: 'first' })).toMatchObject({ status: 409 });
  expect(await post(`/runs/${runId}:reject`, { step: 'other' })).toMatchObject({ status: 404 });
  expect(await post(`/runs/${runId}:reject`, { step: 'check' })).toMatchObject({ status: 200 });
  expect(await runner.ended).toMatchObject({ exitCode: 1 });
  expect(await statuses()).toBe('sfk');
  expect(readFileSync(join(place.home, 'runs', runId, 'journal.ndjson'), 'utf8')).toContain('"by":"tester"');
});

test('cancels a run that another process executes', async () => {
  expect((await post(`/runs/${runId}:cancel`, { dryRun: true })).value.command).toBe(`sluice cancel ${runId}`);
  expect(await statuses()).toBe('saw');
  expect(await post(`/runs/${runId}:cancel`, {})).toMatchObject({ status: 200, value: { runId } });
  await runner.ended;
  const report = await readRun(place.home, runId);
  expect(report).toMatchObject({ value: { status: 'canceled', message: 'canceled by tester' } });
});

test('a server that executes nothing says so', async () => {
  expect(await post('/runs', { file: join(place.directory, 'pipeline.yaml') })).toMatchObject({
    status: 409,
    value: { details: [{ reason: 'NOT_EXECUTING' }] },
  });
  expect(await post(`/runs/${runId}:resume`, {})).toMatchObject({ status: 409 });
  expect(await post(`/runs/${runId}:rerun`, {})).toMatchObject({ status: 409 });
  expect(await post(`/runs/${runId}:rerun`, { all: 1 })).toMatchObject({ status: 400 });
  expect(await post(`/runs/${runId}:rerun`, { all: true, from: ['fit'] })).toMatchObject({ status: 400 });
});

test('the actions of the page work as they are written', async () => {
  const page = readFileSync(new URL('../../docs/run-api.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/^(GET|POST) (\S*)(?: (\{.*\}))?$/gm)]
    .map(([, method = '', path = '', body = '{}']) => ({ method, path, body }))
    .filter(({ method, path }) => method === 'POST' || path.includes('NAME'));
  expect(examples.length).toBeGreaterThan(11);
  writeFileSync(
    join(place.directory, 'quick.yaml'),
    'version: 1\nname: quick\nsteps: { check: { command: "true" } }\n',
  );
  await place.sluice('run', 'quick.yaml');
  const ended = (await listRuns(place.home))[0]!.runId;
  const suspended = await suspendOther();
  const watched = { since: 0, schedule: JSON.stringify([['30 2 * * *'], 'UTC']), file: '/p/nightly.yaml' };
  mkdirSync(join(place.home, 'schedules', 'nightly'), { recursive: true });
  writeFileSync(join(place.home, 'schedules', 'nightly', 'watched.json'), JSON.stringify(watched));
  await api.close();
  api = await serveRunApi({ home: place.home, executor: createFakeExecutor() });
  for (const { method, path, body } of examples) {
    const about = path.endsWith(':rerun') ? ended : path.endsWith(':resume') ? suspended : runId;
    const fill = (text: string) =>
      text
        .replaceAll('RUN', about)
        .replaceAll('STEP', 'check')
        .replaceAll('NAME', 'nightly')
        .replaceAll('FILE', '/p.yaml');
    const reply =
      method === 'POST'
        ? await post(fill(path), { ...(JSON.parse(fill(body)) as object), dryRun: true })
        : { status: (await fetch(`${api.url}${fill(path)}`)).status, value: undefined };
    expect(reply, `${method} ${path}`).toMatchObject({ status: 200 });
    if (reply.value !== undefined)
      expect(reply.value, path).toMatchObject({ dryRun: true, command: expect.stringMatching(/^sluice /) });
  }
  for (const [from, reason] of [
    ['check/x', 'CELL_NOT_FOUND'],
    ['x/check', 'STEP_NOT_FOUND'],
  ] as const)
    expect(await post(`/runs/${ended}:rerun`, { from: [from], dryRun: true })).toMatchObject({
      status: 404,
      value: { details: [{ reason }] },
    });
});

/** A run that no process executes. */
async function suspendOther(): Promise<string> {
  const known = new Set((await listRuns(place.home)).map((run) => run.runId));
  const other = place.start(['run', 'pipeline.yaml']);
  let found: string | undefined;
  await until(async () => {
    found = (await listRuns(place.home)).find((run) => !known.has(run.runId))?.runId;
    return found !== undefined;
  }, 'the other run');
  other.process.kill('SIGKILL');
  await other.ended;
  return found!;
}

/** Starts nothing. */
function createFakeExecutor(): RunExecutor {
  const done = { ok: true, value: undefined } as const;
  return {
    resume: async () => done,
    preview: async () => ({ ok: true, value: { reused: ['first'], run: ['check'] } }),
    createOrder: async () => ({ ok: true, value: { file: '/p/nightly.yaml', params: { size: '2' } } }),
    delete: async () => ({ ok: true, value: true }),
    listPipelines: async () => [],
    start: async () => done,
  };
}

test('shows what became of planned times, and records a backfill once', async () => {
  const directory = join(place.home, 'schedules', 'nightly');
  mkdirSync(directory, { recursive: true });
  const watched = { since: 0, schedule: JSON.stringify([['30 2 * * *'], 'Europe/Berlin']), file: '/p/nightly.yaml' };
  writeFileSync(join(directory, 'watched.json'), JSON.stringify(watched));
  await api.close();
  api = await serveRunApi({ home: place.home, executor: createFakeExecutor() });
  const range = { from: '2026-03-28T00:00:00Z', to: '2026-03-30T12:00:00Z' };
  const dry = await post('/schedules/nightly:backfill', { ...range, dryRun: true });
  expect(dry.value).toMatchObject({
    command: 'sluice schedule backfill 2026-03-28T01:00..2026-03-30T14:00 /p/nightly.yaml',
    plannedAt: ['2026-03-28T01:30:00.000Z', '2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z'],
  });
  const times = async (query = '') => {
    const reply = await fetch(`${api.url}/schedules/nightly/times?from=${range.from}&to=${range.to}${query}`);
    return (await reply.json()) as PlannedTimeList;
  };
  expect((await times()).times.map(({ status }) => status)).toEqual(['missed', 'missed', 'missed']);
  expect((await post('/schedules/nightly:backfill', range)).value).toMatchObject({ dryRun: false });
  expect((await post('/schedules/nightly:backfill', range)).value).toMatchObject({ plannedAt: [] });
  const { times: first, nextPageToken } = await times('&pageSize=2');
  expect(first).toMatchObject([{ status: 'started', isBackfill: true, runId: expect.any(String) }, {}]);
  expect((await times(`&pageSize=2&pageToken=${nextPageToken}`)).times).toHaveLength(1);
  expect(await post('/schedules/nightly:backfill', { ...range, to: '2099-01-01T00:00:00Z' })).toMatchObject({
    status: 409,
  });
  expect(await post('/schedules/weekly:run', {})).toMatchObject({ status: 404 });
});

test('pauses no schedule that is unknown', async () => {
  expect(await post('/schedules/nightly:pause', {})).toMatchObject({ status: 404 });
  expect(await (await fetch(`${api.url}/schedules`)).json()).toEqual({ schedules: [] });
});
