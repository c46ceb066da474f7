import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, isAlive, parseLines, type Started, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: wait
params: { seconds: 3600 }
steps:
  wait: { command: [sleep, "\${{ params.seconds }}"] }
`;

let place: Workplace;
let started: Started[];

beforeEach(() => {
  place = createWorkplace();
  started = [];
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
});

afterEach(async () => {
  for (const { process } of started) process.kill('SIGKILL');
  await place.sluice('cancel');
  await Promise.all(started.map(({ ended }) => ended));
  place.remove();
});

/** Starts the command and returns its link once it accepts requests. */
async function startUi(...args: string[]): Promise<{ readonly ui: Started; readonly link: URL }> {
  const ui = place.start(['ui', '--listen', '127.0.0.1:0', '--json', ...args], { isEndless: true });
  started.push(ui);
  await until(() => ui.stdout().includes('\n'), 'the link');
  const [value] = parseLines<{ type: string; url: string }>(ui.stdout());
  expect(value!.type).toBe('listener');
  return { ui, link: new URL(value!.url) };
}

const detached = (stdout: string) => parseLines<{ type: string; runId: string; hostPid: number }>(stdout).at(-1)!;
const runDetached = async (seconds: number) =>
  detached((await place.sluice('run', '--detach', '--json', '-p', `seconds=${seconds}`)).stdout);

async function end(ui: Started): Promise<void> {
  ui.process.kill('SIGTERM');
  expect(await ui.ended).toMatchObject({ exitCode: 0 });
}

test('the first line is a link to the pages, which work without another server', async () => {
  const { ui, link } = await startUi('--no-runs');
  expect(link.hostname).toBe('127.0.0.1');
  expect((await fetch(new URL('/', link))).status).toBe(401);
  const opened = await fetch(link, { redirect: 'manual' });
  expect(opened.status).toBe(303);
  const [cookie = ''] = opened.headers.getSetCookie()[0]!.split(';');
  const page = await fetch(new URL('/', link), { headers: { cookie } });
  expect(page.status).toBe(200);
  const assets = [...(await page.text()).matchAll(/(?:src|href)="\.?(\/?[^"]+)"/g)].map(([, path]) => path!);
  expect(assets.length).toBeGreaterThan(1);
  for (const path of assets) expect((await fetch(new URL(path, link), { headers: { cookie } })).status).toBe(200);
  await end(ui);
});

test('it executes detached runs instead of a background process, which resumes them afterwards', async () => {
  const first = await runDetached(3600);
  const { ui } = await startUi();
  await until(async () => !isAlive(first.hostPid), 'the end of the background process');
  const second = await runDetached(1);
  expect(second.hostPid).toBe(ui.process.pid);
  await until(async () => (await statusOf(second.runId)) === 'succeeded', 'the second run');
  await until(async () => (await statusOf(first.runId)) === 'running', 'the first run');
  await end(ui);
  expect(await statusOf(first.runId)).toBe('suspended');
  const third = await runDetached(1);
  await until(async () => (await statusOf(third.runId)) === 'succeeded', 'the third run');
  expect(await statusOf(first.runId)).toBe('running');
  expect((await place.sluice('cancel', first.runId)).exitCode).toBe(0);
  await until(() => !isAlive(third.hostPid), 'the end of the background process');
});

async function statusOf(runId: string): Promise<string | undefined> {
  return (await place.runs()).find((run) => run.runId === runId)?.status;
}

test('a second process prints a link to the first, or only shows the runs, and no other machine can connect', async () => {
  const { ui, link } = await startUi();
  const second = await place.sluice('ui');
  expect(second.stderr).toBe(`process ${ui.process.pid} shows the runs of ${place.home}\n`);
  expect(second.exitCode).toBe(0);
  const other = new URL(second.stdout.trim());
  expect(other.host).toBe(link.host);
  expect((await fetch(other, { redirect: 'manual' })).status).toBe(303);
  const reader = await startUi('--no-runs');
  await end(reader.ui);
  for (const address of ['0.0.0.0:0', '[::]:0', 'example.org:80', '127.0.0.1']) {
    const refused = await place.sluice('ui', '--listen', address);
    expect(refused.stderr).toContain('expected a loopback address with a port');
    expect(refused.exitCode).toBe(2);
  }
  await end(ui);
});

test('a program calls the API with the token in the home, which is removed at the end', async () => {
  const { ui } = await startUi();
  const file = join(place.home, 'host/api.json');
  await until(() => existsSync(file), 'the token');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { url, token } = JSON.parse(readFileSync(file, 'utf8')) as { url: string; token: string };
  expect((await fetch(`${url}/runs`)).status).toBe(401);
  const reply = await fetch(`${url}/runs`, { headers: { authorization: `Bearer ${token}` } });
  expect(await reply.json()).toEqual({ runs: [] });
  await end(ui);
  expect(existsSync(file)).toBe(false);
});

test('an address in use is an error', async () => {
  const { ui, link } = await startUi('--no-runs');
  const { exitCode, stderr } = await place.sluice('ui', '--listen', link.host, '--no-runs');
  expect(stderr).toMatch(/could not listen on 127\.0\.0\.1:\d+: .*in use/i);
  expect(exitCode).toBe(2);
  await end(ui);
});

/** A client with a session, as a page of the dashboard is one. */
async function openSession(link: URL): Promise<(path: string, body?: unknown) => Promise<Record<string, unknown>>> {
  const opened = await fetch(link, { redirect: 'manual' });
  const [cookie = ''] = opened.headers.getSetCookie()[0]!.split(';');
  return async (path, body) => {
    const url = new URL(`/api/sluice/v1${path}`, link);
    const headers = { cookie, origin: link.origin, 'content-type': 'application/json' };
    const post = { method: 'POST', body: JSON.stringify(body) };
    const reply = await fetch(url, { headers, ...(body !== undefined && post) });
    return (await reply.json()) as Record<string, unknown>;
  };
}

test('a run is started, shown, canceled and started again with requests', async () => {
  const { ui, link } = await startUi();
  const call = await openSession(link);
  const file = join(place.directory, 'pipeline.yaml');
  const preview = { dryRun: true, run: ['wait'], reused: [] };
  expect(await call('/runs', { file, params: { seconds: 0 }, dryRun: true })).toMatchObject(preview);
  expect(await call('/runs', { file, params: { seconds: 'long' }, dryRun: true })).toMatchObject({
    status: 'FAILED_PRECONDITION',
    message: expect.stringContaining('seconds'),
  });
  expect(await place.runs()).toEqual([]);
  const { runId } = await call('/runs', { file, params: { seconds: 3600 } });
  await until(async () => (await statusOf(String(runId))) === 'running', 'the run');
  expect(await call(`/runs/${runId}:cancel`, {})).toMatchObject({ runId, dryRun: false });
  await until(async () => (await statusOf(String(runId))) === 'canceled', 'the end of the run');
  const again = await call(`/runs/${runId}:rerun`, { params: { seconds: 0 } });
  expect(again.runId).not.toBe(runId);
  await until(async () => (await statusOf(String(again.runId))) === 'succeeded', 'the end of the second run');
  const { runs } = await call('/runs');
  expect(runs).toMatchObject([{ runId: again.runId }, { runId }]);
  await end(ui);
});

test('a suspended run is resumed, and another one is canceled, with requests', async () => {
  const begin = async () => {
    const known = (await place.runs()).length;
    const run = place.start(['run'], { isEndless: true });
    await until(async () => (await place.runs()).length > known, 'the run');
    const [{ runId } = { runId: '' }] = await place.runs();
    await until(async () => (await statusOf(runId)) === 'running', 'its execution');
    run.process.kill('SIGTERM');
    expect((await run.ended).exitCode).toBe(75);
    return runId;
  };
  const [first, second] = [await begin(), await begin()];
  const { ui, link } = await startUi();
  const call = await openSession(link);
  expect(await call(`/runs/${first}:resume`, {})).toMatchObject({ runId: first });
  await until(async () => (await statusOf(first)) === 'running', 'the resumed run');
  for (const runId of [first, second]) {
    expect(await call(`/runs/${runId}:cancel`, {})).toMatchObject({ runId });
    await until(async () => (await statusOf(runId)) === 'canceled', 'the end of the run');
  }
  await end(ui);
});
