import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { obtainToken } from '@sluice/client';
import type { ActionReply } from '@sluice/host';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, type Ended, parseLines, type Workplace } from './workplace-rig.ts';

/** `use` fails in the first run, and succeeds as soon as another one has failed before it. */
const PIPELINE = `
version: 1
name: again
params: { word: one }
volumes: { code: { source: code.txt }, state: {} }
steps:
  make:
    command: [sh, -c, "cat /in/code/code.txt > /out/text; echo $WORD >> /out/text"]
    env: { WORD: "\${{ params.word }}" }
    inputs: { code: volumes.code }
    outputs: { text: /out }
  use:
    command: [sh, -c, "[ -e /in/state/failed ] || { touch /in/state/failed; exit 1; }; cp /in/text/text /out/copy"]
    inputs: { text: make.text, state: { from: volumes.state, writable: true } }
    outputs: { copy: /out }
outputs: { copy: { from: use.copy, publish: results } }
`;

let place: Workplace;
let server: Server;
let api: string;
let token: string;

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  writeFileSync(join(place.directory, 'code.txt'), 'source\n');
  server = await serveNew(place);
  api = `${server.url}/api/sluice/v1/clusters/main/accounts/physics`;
  const login = { email: CREDENTIALS.SLUICE_EMAIL, password: CREDENTIALS.SLUICE_PASSWORD };
  token = await obtainToken({ baseUrl: server.url, login });
});

afterAll(async () => {
  await server?.kill();
  place.remove();
});

const sluice = (...args: string[]): Promise<Ended> => place.start(args, { env: CREDENTIALS }).ended;

async function rerun(runId: string, body: object, key?: string) {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) };
  const reply = await fetch(`${api}/runs/${runId}:rerun`, {
    ...{ method: 'POST', body: JSON.stringify(body) },
    headers: { ...headers, authorization: `Bearer ${token}` },
  });
  const value = (await reply.json()) as ActionReply & { details?: readonly { readonly reason: string }[] };
  return { status: reply.status, value };
}

async function countContainers(): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/sluice_service_calls_total\{call="containers.create",reply="ok"\} (\d+)/.exec(text)?.[1] ?? 0);
}

async function runToEnd(exitCode: number): Promise<string> {
  const { stdout, stderr } = await sluice('run', '--detach', '--json', '--service', server.url);
  expect(stderr).toBe('');
  const { runId } = parseLines<{ runId: string }>(stdout).at(-1)!;
  expect(await sluice('attach', runId)).toMatchObject({ exitCode });
  return runId;
}

test('a rerun on a server reuses what succeeded, once for all repetitions, and clients can show and pull it', async () => {
  const failed = await runToEnd(1);
  expect(await countContainers()).toBe(2);
  const command = `sluice rerun ${failed} --service ${server.url} --detach`;
  const expected = { command, reused: ['make'], run: ['use'] };
  expect(await rerun(failed, { dryRun: true })).toMatchObject({ status: 200, value: { dryRun: true, ...expected } });
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => rerun(failed, {}, 'once')));
  expect(others).toEqual([first, first]);
  expect(first).toMatchObject({ status: 200, value: { dryRun: false, ...expected } });
  const { runId } = first!.value as { runId: string };
  expect(await rerun(failed, { all: true }, 'once')).toMatchObject({
    value: { details: [{ reason: 'KEY_REUSED' }] },
  });

  const at = ['--service', server.url];
  expect(await sluice('attach', runId, ...at)).toMatchObject({ exitCode: 0 });
  expect(await countContainers()).toBe(3);
  const listed = parseLines<{ runId: string; status: string }>((await sluice('runs', '--json', ...at)).stdout);
  expect(listed.map((run) => [run.runId, run.status])).toEqual([
    [runId, 'succeeded'],
    [failed, 'failed'],
  ]);
  expect(await sluice('pull', '-r', runId, '--to', 'pulled')).toMatchObject({ exitCode: 0 });
  expect(place.read('pulled/copy/copy')).toBe('source\none\n');

  const whole = await rerun(runId, { all: true });
  expect(whole).toMatchObject({ status: 200, value: { reused: [], run: ['make', 'use'] } });
  expect(await sluice('attach', whole.value.runId!, ...at)).toMatchObject({ exitCode: 0 });
  expect(await countContainers()).toBe(5);
  const from = await rerun(runId, { from: ['use'] });
  expect(from).toMatchObject({ status: 200, value: { reused: ['make'], run: ['use'] } });
  expect(await sluice('attach', from.value.runId!, ...at)).toMatchObject({ exitCode: 0 });
  expect(await countContainers()).toBe(6);
});

test('a rerun that needs the machine of the user names the command for it, which works there', async () => {
  const { runId } = parseLines<{ runId: string }>((await sluice('runs', '--json', '--service', server.url)).stdout)[0]!;
  const rejected = await rerun(runId, { params: { word: 'two' } });
  expect(rejected).toMatchObject({ status: 409, value: { details: [{ reason: 'CLIENT_NEEDED' }] } });
  const words = / run on your machine: sluice (.*)$/.exec((rejected.value as { message: string }).message)?.[1] ?? '';
  expect(words).toBe(`rerun ${runId} -p word=two --service ${server.url} --detach`);
  const { exitCode, stdout } = await sluice(...words.split(' '), '--json');
  expect(exitCode).toBe(0);
  const again = parseLines<{ runId: string }>(stdout).at(-1)!.runId;
  expect(await sluice('attach', again)).toMatchObject({ exitCode: 0 });
  expect(place.read('results/copy')).toBe('source\ntwo\n');

  const volumes = join(place.directory, 'data/clusters/main/volumes/physics');
  const [workspace] = readdirSync(volumes);
  const sources = join(volumes, workspace!, 'sources');
  renameSync(sources, join(place.directory, 'sources'));
  for (const dryRun of [true, false]) {
    const gone = await rerun(runId, { all: true, dryRun });
    expect(gone).toMatchObject({ status: 409, value: { details: [{ reason: 'CLIENT_NEEDED' }] } });
    expect(gone.value.message).toContain('the uploaded source of volume code no longer exists; run on your machine: ');
  }
  renameSync(join(place.directory, 'sources'), sources);
});

test('sluice why --against compares runs on a server, with the files of their sources', async () => {
  const listed = parseLines<{ runId: string }>((await sluice('runs', '--json', '--service', server.url)).stdout);
  const [two = '', one = ''] = listed.map(({ runId }) => runId);
  const why = async (run: string) => {
    const { exitCode, stdout, stderr } = await sluice('why', 'make', '-r', run, '--against', one);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return stdout.split('\n').map((line) => line.trim());
  };
  const cause = "its variable WORD was 'one', is 'two' (parameter word)";
  expect(await why(two)).toEqual([`make differs from run ${one} because ${cause}`, '', 'make differs', cause, '']);
  writeFileSync(join(place.directory, 'code.txt'), 'changed\n');
  const changed = await runToEnd(0);
  const content = "the content of volume code in its input 'code' differs: code.txt was changed";
  expect(await why(changed)).toEqual([
    `make differs from run ${one} because ${content}`,
    ...['', 'make differs', content, expect.stringMatching(/^code\.txt {2}changed {2}SHA-256 /), ''],
  ]);
});
