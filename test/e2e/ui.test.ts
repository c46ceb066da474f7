import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimHost } from '../../packages/host/src/execute/host-claim.ts';
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
  // A background process writes in the home until it has ended.
  await until(async () => {
    const claim = await claimHost(place.home, () => undefined);
    await claim?.release();
    return claim !== undefined;
  }, 'the end of the process that hosts the runs');
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
  const { place: pages, cookie } = await redeem(link);
  const page = await fetch(pages, { headers: { cookie } });
  expect(page.status).toBe(200);
  const assets = [...(await page.text()).matchAll(/(?:src|href)="\.?(\/?[^"]+)"/g)].map(([, path]) => path!);
  expect(assets.length).toBeGreaterThan(1);
  for (const path of assets)
    expect((await fetch(new URL(path.replace(/^\//, ''), pages), { headers: { cookie } })).status).toBe(200);
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
    const rejected = await place.sluice('ui', '--listen', address);
    expect(rejected.stderr).toContain('expected a loopback address with a port');
    expect(rejected.exitCode).toBe(2);
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

/** Exchanges a link for the cookie of a session, and the place where it is valid. */
async function redeem(link: URL): Promise<{ readonly place: URL; readonly cookie: string }> {
  const { status, headers } = await fetch(link, { redirect: 'manual' });
  expect(status).toBe(303);
  const [cookie = ''] = headers.getSetCookie()[0]!.split(';');
  return { place: new URL(headers.get('location')!, link), cookie };
}

/** A client with a session, as a page of the dashboard is one. */
async function openSession(link: URL): Promise<(path: string, body?: unknown) => Promise<Record<string, unknown>>> {
  const { place: pages, cookie } = await redeem(link);
  return async (path, body) => {
    const url = new URL(`api/sluice/v1${path}`, pages);
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
    const known = new Set((await place.runs()).map(({ runId }) => runId));
    const findNew = async () => (await place.runs()).find(({ runId }) => !known.has(runId));
    const run = place.start(['run'], { isEndless: true });
    await until(async () => (await findNew()) !== undefined, 'the run');
    const { runId } = (await findNew())!;
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

test('a file is executed by a request only if it is one of the project, and publishes only into the project', async () => {
  const { ui, link } = await startUi();
  const call = await openSession(link);
  const write = (path: string, publish: string) => {
    const file = join(place.directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      `version: 1
name: make
steps:
  make: { command: [sh, -c, 'echo made >/out/f'], outputs: { out: { path: /out } } }
outputs:
  out: { from: make.out, publish: ${publish} }
`,
    );
    return file;
  };
  const outside = mkdtempSync(join(tmpdir(), 'sluice-outside-'));
  symlinkSync(outside, join(place.directory, 'link'));
  mkdirSync(join(place.directory, 'published'));
  writeFileSync(join(place.directory, 'published/.sluice-result.json'), '{}');
  const rejected = async (file: string, message: RegExp) => {
    for (const dryRun of [true, false])
      expect(await call('/runs', { file, dryRun })).toMatchObject({ message: expect.stringMatching(message) });
  };
  await rejected(
    write('a.yaml', join(outside, 'x')),
    /could not use .*\/x for output out: it is not below .*`sluice run`/,
  );
  await rejected(write('b.yaml', '../x'), /it is not below/);
  await rejected(write('c.yaml', './link/x'), /it is not below/);
  await rejected(write('d.yaml', './.ssh'), /it is hidden/);
  await rejected(write('e.yaml', './results/.git/hooks'), /it is hidden/);
  await rejected(
    write('.sluice/service/volume/f.yaml', join(place.directory, 'x')),
    /could not run .*: it is in the home/,
  );
  await rejected(write('published/in/g.yaml', '../x'), /could not run .*: a run has published it in/);
  await rejected(join(outside, 'h.yaml'), /could not run .*: it is not below/);
  symlinkSync(write('.sluice/service/volume/i.yaml', '../x'), join(place.directory, 'i.yaml'));
  await rejected(join(place.directory, 'i.yaml'), /it is in the home/);
  expect(await place.runs()).toEqual([]);
  const { runId } = await call('/runs', { file: write('j.yaml', './results/x') });
  await until(async () => (await statusOf(String(runId))) === 'succeeded', 'the run');
  expect(place.read('results/x/f')).toBe('made\n');
  rmSync(outside, { recursive: true });
  await end(ui);
});

test('--open starts the browser with a file that only the user can read, and that is removed when it was used', async () => {
  const seen = join(place.directory, 'seen');
  const programs = join(place.directory, 'programs');
  mkdirSync(programs);
  const script = `#!/bin/sh\nprintf '%s\\n' "$#" "$1" "\${SLUICE_SECRET_KEY-none}" >'${seen}.new'\nmv '${seen}.new' '${seen}'\n`;
  for (const name of ['xdg-open', 'open']) writeFileSync(join(programs, name), script, { mode: 0o755 });
  const env = { PATH: `${programs}:${process.env.PATH}`, SLUICE_SECRET_KEY: 'hidden' };
  for (const isOther of [false, true]) {
    const args = ['ui', '--listen', '127.0.0.1:0', '--open'];
    const command = place.start(args, { isEndless: true, env });
    if (!isOther) started.push(command);
    await until(() => existsSync(seen), 'the browser');
    const [count, url, secret] = readFileSync(seen, 'utf8').split('\n');
    rmSync(seen);
    expect({ count, secret }).toEqual({ count: '1', secret: 'none' });
    const file = fileURLToPath(url!);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    const [, link] = /url=(http:[^"]+)/.exec(readFileSync(file, 'utf8')) ?? [];
    expect(url).not.toContain(new URL(link!).searchParams.get('token'));
    expect((await fetch(await redeem(new URL(link!)).then(({ place: pages }) => pages))).status).toBe(401);
    await until(() => !existsSync(file), 'the removal of the file');
    if (isOther) expect((await command.ended).exitCode).toBe(0);
  }
  await end(started[0]!);
  expect(existsSync(join(place.home, 'host/links'))).toBe(false);
});

test('sluice open shows the page of a run, with the process that shows the runs already', async () => {
  expect((await place.sluice('run', '--quiet', '-p', 'seconds=0')).exitCode).toBe(0);
  const [{ runId } = { runId: '' }] = await place.runs();
  const env = { PATH: join(place.directory, 'nothing') };
  const first = place.start(['open'], { isEndless: true, env });
  started.push(first);
  await until(() => first.stderr().includes('open the link yourself'), 'the advice');
  const second = await place.start(['open', runId.slice(0, -1), '--json'], { env }).ended;
  expect(second.exitCode, second.stderr).toBe(0);
  expect(second.stderr).toContain(`process ${first.process.pid} shows the runs of`);
  const links = [first.stdout().trim(), parseLines<{ url: string }>(second.stdout)[0]!.url];
  expect(new Set(links.map((link) => new URL(link).host)).size).toBe(1);
  for (const link of links) {
    const { place: page } = await redeem(new URL(link));
    expect(page.hash).toBe(`#/runs/${runId}`);
  }
  expect(await place.sluice('open', 'nosuch')).toMatchObject({ exitCode: 2 });
  await end(first);
});

test('it waits for a host that is ending, says so, and then executes its runs', async () => {
  const { runId, hostPid } = await runDetached(3600);
  process.kill(hostPid, 'SIGKILL');
  await until(() => !isAlive(hostPid), 'the end of the background process');
  // As a host that has accepted the request to end, and has not left its runs yet.
  const ending = await claimHost(place.home, () => undefined);
  const ui = place.start(['ui', '--listen', '127.0.0.1:0', '--json'], { isEndless: true });
  started.push(ui);
  await until(() => ui.stderr().includes('waiting for the process that hosts the runs of '), 'the message');
  expect(ui.stdout()).toBe('');
  await ending!.release();
  await until(() => ui.stdout().includes('\n'), 'the link');
  await until(async () => (await statusOf(runId)) === 'running', 'the run');
  await end(ui);
});

test('it leaves the runs to a background process if it is interrupted while it waits', async () => {
  const { runId, hostPid } = await runDetached(3600);
  process.kill(hostPid, 'SIGKILL');
  await until(() => !isAlive(hostPid), 'the end of the background process');
  const ending = await claimHost(place.home, () => undefined);
  const ui = place.start(['ui', '--listen', '127.0.0.1:0'], { isEndless: true });
  started.push(ui);
  await until(() => ui.stderr().includes('waiting for the process that hosts the runs of '), 'the message');
  ui.process.kill('SIGINT');
  const { exitCode, stderr } = await ui.ended;
  expect(exitCode).toBe(130);
  expect(stderr).toContain('continue in the background');
  await ending!.release();
  await until(async () => (await statusOf(runId)) === 'running', 'the run');
});

test('it leaves the runs to a background process if it cannot listen', async () => {
  const { runId } = await runDetached(3600);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { exitCode, stderr } = await place.sluice('ui', '--listen', `127.0.0.1:${port}`);
  taken.close();
  expect(exitCode).toBe(2);
  expect(stderr).toContain('continue in the background');
  await until(async () => (await statusOf(runId)) === 'running', 'the run');
});
