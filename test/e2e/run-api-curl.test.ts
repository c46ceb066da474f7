import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readGuide } from '../operator/read-guide.ts';
import { createWorkplace, type Started, until, type Workplace } from './workplace-rig.ts';

const PAGE = readFileSync(new URL('../../docs/run-api.md', import.meta.url), 'utf8');
const SECTION = PAGE.slice(PAGE.indexOf('## A run with curl'), PAGE.indexOf('## On a server'));

let place: Workplace;
let ui: Started;

beforeEach(async () => {
  place = createWorkplace();
  await startUi();
});

afterEach(async () => {
  await endUi();
  place.remove();
});

async function endUi(): Promise<void> {
  ui.process.kill('SIGTERM');
  await ui.ended;
}

async function startUi(): Promise<void> {
  ui = place.start(['ui', '--listen', '127.0.0.1:0', '--json'], { isEndless: true });
  await until(() => ui.stdout().includes('\n'), 'the link');
  await until(isReady, 'the token');
}

/** A killed process leaves its token, which is void. */
async function isReady(): Promise<boolean> {
  return call('GET', '/runs').then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** Sends a request to the process that executes the runs now. */
async function call(method: string, path: string, body?: unknown) {
  const { url, token } = JSON.parse(readFileSync(join(place.home, 'host/api.json'), 'utf8')) as Record<string, string>;
  const reply = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...{ method, ...(body !== undefined && { body: JSON.stringify(body) }) },
  });
  return { status: reply.status, value: (await reply.json()) as { details?: { reason: string }[] } };
}

async function shell(script: string) {
  const child = spawn('bash', ['-ec', script], { cwd: place.directory });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, stdout, stderr };
}

const hasClients = ['curl', 'jq'].every((program) => spawnSync(program, ['--version']).status === 0);

test.skipIf(!hasClients && process.env.CI !== 'true')(
  'the session of docs/run-api.md, followed to the letter, does what it says',
  async () => {
    const script: string[] = [];
    for (const part of readGuide(SECTION)) {
      if (part.type === 'file') writeFileSync(join(place.directory, part.path), part.text);
      else script.push(part.text);
    }
    expect(script).toHaveLength(3);
    const { code, stdout, stderr } = await shell(script.join('\n'));
    expect(code, stdout + stderr).toBe(0);
    const [first, second, ...rest] = stdout.split(/(?<=\})(?=\{)|\n/).filter((line) => line !== '');
    expect(first).toMatch(/^\{"runId":"[a-z2-7]{13}"\}$/);
    expect(second).toBe(first);
    const text = rest.join('\n');
    expect(text).toContain('"status": "succeeded"');
    expect(text).toContain('"lines": 3');
    expect(text.match(/^1\n2\n3$/gm)).toHaveLength(2);
    await until(async () => (await place.runs()).every(({ endedAt }) => endedAt !== undefined), 'the end of the runs');
    expect((await place.runs()).map((run) => run.status).sort()).toEqual(['canceled', 'succeeded']);
  },
);

test('a run that has just been ordered can be canceled, whichever process is taking it', async () => {
  const text = 'version: 1\nname: long\nsteps: { a: { command: [sleep, "600"] } }\n';
  writeFileSync(join(place.directory, 'pipeline.yaml'), text);
  const order = { order: { file: join(place.directory, 'pipeline.yaml'), params: {} } };
  for (const letter of 'abcdefgh') {
    const path = `/runs/${letter.repeat(13)}`;
    expect(await call('PUT', path, order)).toMatchObject({ status: 200 });
    expect(await call('POST', `${path}:cancel`, {})).toMatchObject({ status: 200 });
  }
  await until(async () => (await place.runs()).every(({ status }) => status === 'canceled'), 'the end of the runs');
});

const ORDER = () => ({ order: { file: join(place.directory, 'pipeline.yaml'), params: { name: 'a' } } });
const PIPELINE =
  'version: 1\nname: once\nparams: { name: b }\nsteps: { a: { command: [echo, "${{ params.name }}"] } }\n';

test('an order that is sent again starts nothing, and another one with its ID is rejected', async () => {
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  const path = '/runs/aaaaaaaaaaaaa';
  const replies = await Promise.all([1, 2, 3].map(() => call('PUT', path, ORDER())));
  expect(replies).toEqual(replies.map(() => ({ status: 200, value: { runId: 'aaaaaaaaaaaaa' } })));
  const reasonOf = async (at: string, body: unknown) => {
    const { status, value } = await call('PUT', at, body);
    return [status, value.details?.[0]?.reason];
  };
  const { file } = ORDER().order;
  expect(await reasonOf(path, { order: { file, params: {} } })).toEqual([409, 'RUN_EXISTS']);
  const other = '/runs/bbbbbbbbbbbbb';
  expect(await reasonOf(other, { order: { file, params: { nam: 'a' } } })).toEqual([400, 'RUN_INVALID']);
  expect(await reasonOf(other, { order: { file: '/etc/passwd', params: {} } })).toEqual([400, 'RUN_INVALID']);
  expect(await reasonOf(other, { order: { file: 'pipeline.yaml', params: {} } })).toEqual([400, 'PARAMETER_INVALID']);
  expect(await reasonOf(other, { order: { file, params: {}, cpu: 2 } })).toEqual([400, 'PARAMETER_INVALID']);
  expect(await reasonOf('/runs/tooShort', ORDER())).toEqual([400, 'PARAMETER_INVALID']);
  await until(async () => (await place.runs())[0]?.endedAt !== undefined, 'the end of the run');
  expect(await place.runs()).toMatchObject([{ runId: 'aaaaaaaaaaaaa', status: 'succeeded' }]);
  await endUi();
  expect(await place.containers()).toHaveLength(1);
});

test('an order that is repeated after the process was killed is executed once', async () => {
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  for (const [runId, file] of [
    ['ccccccccccccc', '.'],
    ['ddddddddddddd', 'plan.json'],
    ['eeeeeeeeeeeee', 'custody.json'],
  ] as const) {
    const first = call('PUT', `/runs/${runId}`, ORDER()).catch(() => undefined);
    await until(() => existsSync(join(place.home, 'runs', runId, file)), file);
    ui.process.kill('SIGKILL');
    await Promise.all([first, ui.ended]);
    await startUi();
    expect(await call('PUT', `/runs/${runId}`, ORDER())).toEqual({ status: 200, value: { runId } });
    await until(async () => (await place.show(runId)).endedAt !== undefined, 'the end of the run');
    expect(await call('PUT', `/runs/${runId}`, ORDER())).toMatchObject({ status: 200 });
  }
  expect((await place.runs()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  await endUi();
  expect(await place.containers()).toHaveLength(3);
});
