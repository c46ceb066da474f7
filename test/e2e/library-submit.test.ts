import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  approveRun,
  attach,
  type Connection,
  cancelRun,
  connectService,
  deleteRun,
  loadPipeline,
  openEmbeddedService,
  pipeline,
  pullOutput,
  rejectRun,
  safeAttach,
  safeSubmit,
  submit,
} from 'sluice';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, isAlive, until, type Workplace } from './workplace-rig.ts';

const FILE = `
version: 1
name: asked
include: other.yaml
secrets: [message]
steps:
  ask: { approval: { message: Continue? }, needs: [make] }
  say: { command: [sh, -c, "cat /in/text/line > /out/text/line"], inputs: { text: make.text }, outputs: [text], needs: [ask] }
outputs: { said: { from: say.text, publish: results } }
`;
const OTHER = `
steps:
  make: { command: [sh, -c, 'printf "%s" "$MESSAGE" > /out/text/line'], env: { MESSAGE: "\${{ secrets.message }}" }, outputs: [text] }
`;

let place: Workplace;
let server: Server;
let service: Connection;

beforeAll(async () => {
  place = createWorkplace();
  server = await serveNew(place);
  const login = { email: CREDENTIALS.SLUICE_EMAIL, password: CREDENTIALS.SLUICE_PASSWORD };
  service = await connectService({ baseUrl: server.url, login });
  mkdirSync(join(place.directory, 'files'));
  writeFileSync(join(place.directory, 'files/asked.yaml'), FILE);
  writeFileSync(join(place.directory, 'files/other.yaml'), OTHER);
});

afterAll(async () => {
  await service?.close();
  await server?.kill();
  place.remove();
});

function greeting() {
  const p = pipeline('greeting', { params: { names: ['Ada'] } });
  const greet = p.step('greet', { matrix: { name: p.params.names } }, ({ matrix }) => ({
    command: ['sh', '-c', 'echo "hello $0" > /sluice/results/text', matrix.name],
    results: { text: 'string' },
  }));
  return { built: p.results({ texts: greet.results.text }), greet };
}

test('a server executes a built pipeline, and attach follows it to its typed results', async () => {
  const { home } = place;
  const { built, greet } = greeting();
  const submitted = await submit(built, { home, service, params: { names: ['Ada', 'Grace'] } });
  expect(submitted).toEqual({
    runId: expect.any(String),
    executor: 'server',
    url: expect.stringContaining(server.url),
  });
  const types: string[] = [];
  const attached = await attach(submitted.runId, { home, service, pipeline: built });
  for await (const { type } of attached.events) types.push(type);
  const result = await attached.finished;
  expect(result.status).toBe('succeeded');
  expect(result.results.texts).toEqual(['hello Ada', 'hello Grace']);
  expect(result.of(greet).text).toEqual(['hello Ada', 'hello Grace']);
  expect([types[0], types.at(-1)]).toEqual(['runStarted', 'runFinished']);
});

test('a server executes a loaded file with its included files and secrets; its outputs are published here', async () => {
  const { home, directory } = place;
  const loaded = await loadPipeline(join(directory, 'files/asked.yaml'));
  const { runId } = await submit(loaded, { home, service, secrets: { message: 'a secret' } });
  const asked = await attach(runId, { home, service });
  for await (const { type } of asked.events) if (type === 'approvalAsked') break;
  asked.close();
  expect(await asked.finished).toMatchObject({ status: 'running' });
  const env = { ...CREDENTIALS, SLUICE_SERVICE: server.url };
  expect(await place.start(['approve', 'ask', '-r', runId], { env }).ended).toMatchObject({ exitCode: 0 });
  const { finished } = await attach(runId, { home, service });
  expect(await finished).toMatchObject({
    status: 'succeeded',
    report: { outputs: { said: { publishedTo: expect.any(String) } } },
  });
  expect(place.read('files/results/line')).toBe('a secret');
});

test('a run of a server is answered, followed and canceled from a home that does not have it', async () => {
  const own = createWorkplace();
  const p = pipeline('asked');
  p.step('ask', { approval: { message: 'Continue?' } });
  const accepted = await submit(p, { home: place.home, service });
  const rejected = await submit(p, { home: place.home, service });
  const canceled = await submit(p, { home: place.home, service });
  const other = { home: own.home, service };
  await expect(approveRun(accepted.runId, 'ask', { home: own.home })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  await expect(cancelRun('none', other)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  await expect(deleteRun(accepted.runId, other)).rejects.toMatchObject({ code: 'RUN_KEPT' });
  for (const { runId } of [accepted, rejected, canceled]) {
    const asked = await attach(runId, other);
    for await (const { type } of asked.events) if (type === 'approvalAsked') break;
    asked.close();
  }
  await expect(approveRun(accepted.runId, 'other', other)).rejects.toMatchObject({ code: 'STEP_NOT_FOUND' });
  await approveRun(accepted.runId, 'ask', { ...other, by: 'ada' });
  await rejectRun(rejected.runId, 'ask', other);
  // This home has the first run that it ordered.
  await cancelRun(canceled.runId, { home: place.home, service });
  const statusOf = async ({ runId }: { runId: string }) => (await (await attach(runId, other)).finished).status;
  expect([await statusOf(accepted), await statusOf(rejected), await statusOf(canceled)]).toEqual([
    'succeeded',
    'failed',
    'canceled',
  ]);
  await expect(cancelRun(canceled.runId, other)).rejects.toMatchObject({ code: 'RUN_FINISHED' });
  expect(await deleteRun(rejected.runId, other)).toMatchObject({ runId: rejected.runId, pipeline: 'asked' });
  await expect(attach(rejected.runId, other)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  expect(await deleteRun(rejected.runId, { home: place.home, service })).toMatchObject({ runId: rejected.runId });
  const embedded = await openEmbeddedService({ home: own.home });
  await expect(cancelRun(canceled.runId, { home: own.home, service: embedded })).rejects.toMatchObject({
    code: 'SERVICE_UNUSABLE',
  });
  await embedded.close();
  own.remove();
});

test('without a server, a process in the background executes the run, which attach leaves by its signal', async () => {
  const own = createWorkplace();
  const { home, directory } = own;
  const p = pipeline('local', { secrets: ['WORD'] });
  const ask = p.step('ask', { approval: { message: 'Continue?' } });
  p.step('say', {
    command: ['sh', '-c', 'echo "$WORD" > /out/text/line'],
    outputs: ['text'],
    needs: ask,
    secrets: ['WORD'],
  });
  const submitted = await submit(p, { home, secrets: { WORD: 'hello' } });
  expect(submitted).toEqual({ runId: expect.any(String), executor: 'host', hostPid: expect.any(Number) });
  const { runId, hostPid } = submitted;
  const stop = new AbortController();
  const onEvent = ({ type }: { type: string }) => type === 'approvalAsked' && stop.abort();
  const { finished } = await attach(runId, { home, signal: stop.signal, onEvent });
  expect(await finished).toMatchObject({ status: 'running' });
  const followed = await attach(runId, { home });
  await approveRun(runId, 'ask', { home });
  expect(await followed.finished).toMatchObject({ status: 'succeeded' });
  const to = join(directory, 'text');
  expect(await pullOutput(runId, 'say.text', { home, to })).toMatchObject({
    output: 'say.text',
    to,
    files: 1,
    bytes: 6,
  });
  await until(() => !isAlive(hostPid!), 'the end of the host');
  own.remove();
});

test('attach survives a server that is away, and says so if it begins then', async () => {
  const own = createWorkplace();
  const away = await serveNew(own);
  const login = { email: CREDENTIALS.SLUICE_EMAIL, password: CREDENTIALS.SLUICE_PASSWORD };
  const connection = await connectService({ baseUrl: away.url, login });
  const p = pipeline('asked');
  p.step('ask', { approval: { message: 'Continue?' } });
  const { runId } = await submit(p, { home: own.home, service: connection });
  const followed = await attach(runId, { home: own.home, service: connection });
  for await (const { type } of followed.events) if (type === 'approvalAsked') break;
  await away.kill();
  await expect(attach(runId, { home: own.home, service: connection })).rejects.toMatchObject({ code: 'UNREACHABLE' });
  followed.close();
  expect(await followed.finished).toMatchObject({ status: 'running' });
  await connection.close();
  own.remove();
});

test('what cannot be submitted starts nothing', async () => {
  const { home } = place;
  const before = await place.runs();
  const { built } = greeting();
  const rejected = (options: object, given: unknown = built) =>
    submit(given as typeof built, { home, service, ...options }).then(
      () => undefined,
      ({ code, message }: { code: string; message: string }) => [code, message],
    );
  expect(await rejected({ params: { names: 5 } })).toEqual(['INVALID_PIPELINE', expect.stringContaining('`names`')]);
  expect(await rejected({}, built.build())).toEqual([
    'INVALID_ARGUMENT',
    expect.stringContaining('must be the builder'),
  ]);
  const notifying = pipeline('notifying', { notify: [{ on: ['failed'], command: ['true'] }] as never });
  notifying.step('a', { command: ['true'] });
  expect(await rejected({}, notifying)).toEqual(['INVALID_PIPELINE', expect.stringContaining('notif')]);
  const other = createWorkplace();
  const embedded = await openEmbeddedService({ home: other.home });
  expect(await rejected({ service: embedded })).toEqual([
    'SERVICE_UNUSABLE',
    expect.stringContaining('executes no runs'),
  ]);
  await embedded.close();
  other.remove();
  expect(await place.runs()).toEqual(before);
  await expect(attach('none', { home })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  expect(await safeAttach('none', { home })).toMatchObject({ ok: false, error: { code: 'RUN_NOT_FOUND' } });
  expect(await safeSubmit(built, { home, profile: 'none' })).toMatchObject({
    ok: false,
    error: { code: 'SERVICE_UNUSABLE' },
  });
});
