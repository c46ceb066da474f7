import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connectService, pipeline, submit } from 'sluice';
import { createRunApi, type RunApi, type RunApiReply } from 'sluice/run-api';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { useHostedServer } from './hosted-rig.ts';
import { createWorkplace, type Started, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: asked
labels: { team: research }
steps:
  make: { command: 'echo one line; echo hello > /out/text/line', outputs: [text] }
  ask: { approval: { message: Continue? }, needs: [make] }
`;

const hosted = useHostedServer();
let place: Workplace;
let ui: Started;
let api: RunApi;
let token: string;

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  ui = place.start(['ui', '--listen', '127.0.0.1:0', '--json'], { isEndless: true });
  const file = join(place.home, 'host/api.json');
  await until(() => existsSync(file), 'the address of the run API');
  const found = JSON.parse(readFileSync(file, 'utf8')) as { url: string; token: string };
  ({ token } = found);
  api = createRunApi(found);
});

afterAll(async () => {
  ui?.process.kill('SIGTERM');
  await ui?.ended;
  place.remove();
});

test('a client of `sluice ui` starts, follows, approves and reads a run', async () => {
  const { signal, abort } = controller();
  const idempotencyKey = 'once';
  const body = { file: join(place.directory, 'pipeline.yaml') };
  const { runId } = await api.call('submitRun', { body, idempotencyKey });
  expect((await api.call('submitRun', { body, idempotencyKey })).runId).toBe(runId);
  const path = { runId: runId! };
  const seen = new Set<string>();
  for await (const event of api.events({ run: [runId!], list: 'true' }, { signal })) {
    seen.add(event.type);
    const run = event.type === 'snapshot' || event.type === 'changes' ? event.data.run : undefined;
    if (run?.counts.awaitingApproval === 1)
      await api.call('approveRun', { path, body: { step: 'ask' } }).catch(() => {});
    const listed = event.type === 'runs' ? event.data.runs : [];
    if (listed.some((one) => one.runId === runId && one.status === 'succeeded')) abort();
  }
  expect([...seen]).toEqual(expect.arrayContaining(['snapshot', 'runs']));
  const { runs } = await api.call('listRuns', { query: { status: ['succeeded', 'failed'], label: 'team=research' } });
  expect(runs.map((run) => run.runId)).toEqual([runId]);
  const details: RunApiReply<'getRun'> = await api.call('getRun', { path });
  expect(details.plan.steps.map(({ step }) => step)).toEqual(['make', 'ask']);
  const log = await api.call('getLog', { path, query: { step: 'make' } });
  expect(await new Response(log).text()).toBe('one line\n');
  expect((await api.call('listPipelines')).pipelines.map((one) => one.pipeline)).toEqual(['asked']);
});

test('errors have the reason of the server, or say that it does not answer', async () => {
  const { signal, abort } = controller();
  await expect(api.call('getRun', { path: { runId: 'aaaaaaaaaaaaa' } })).rejects.toMatchObject({
    ...{ name: 'SluiceError', code: 'RUN_NOT_FOUND', message: expect.any(String) },
  });
  const path = { runId: '../x?y' };
  await expect(api.call('getRun', { path })).rejects.toMatchObject({ name: 'SluiceError' });
  abort();
  await expect(api.call('listRuns', { signal })).rejects.toMatchObject({ code: 'ABORTED' });
  const away = createRunApi({ url: 'http://127.0.0.1:9/api/sluice/v1', token });
  await expect(away.call('listRuns')).rejects.toMatchObject({ code: 'UNREACHABLE' });
  await expect(away.events({ list: 'true' })[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: 'UNREACHABLE',
  });
  const other = await listen((_, response) => response.writeHead(502).end('<html>'));
  await expect(createRunApi({ url: other }).call('listRuns')).rejects.toMatchObject({ code: 'INVALID_REPLY' });
  const moved = await listen((_, response) => response.writeHead(302, { location: other }).end());
  await expect(createRunApi({ url: moved, token }).call('listRuns')).rejects.toMatchObject({ code: 'UNREACHABLE' });
});

test('events in any blocks are read; unknown ones and comments are not, and a broken one is an error', async () => {
  const events = [
    ': comment\n\nretry: 5\n\n',
    'event: later\ndata: {}\n\n',
    'id: 7\nevent: missing\nda',
    'ta: {"runId":"a",\r\ndata: "message":"\u00fc"}\r\n\r\n',
    'event: missing\ndata: {\n\n',
  ];
  const bytes = Buffer.from(events.join(''));
  const url = await listen((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const byte of bytes) response.write(Buffer.from([byte]));
    response.end();
  });
  const read = createRunApi({ url }).events({})[Symbol.asyncIterator]();
  const data = { runId: 'a', message: '\u00fc' };
  expect(await read.next()).toEqual({ done: false, value: { type: 'missing', id: '7', data } });
  await expect(read.next()).rejects.toMatchObject({ code: 'INVALID_REPLY' });
});

test('a lost stream continues after its last event, until the server rejects it or is away', async () => {
  const seen: (string | undefined)[] = [];
  const event = (id: number) => `id: ${id}\nevent: missing\ndata: {"runId":"a","message":"${id}"}\n\n`;
  const url = await listen((request, response) => {
    seen.push(request.headers['last-event-id'] as string | undefined);
    const count = seen.length;
    if (count === 2 || count === 4) return void response.writeHead(502).end('<html>');
    if (count === 6) return void response.destroy();
    if (count === 7) return void response.writeHead(404).end('{"details":[{"reason":"RUN_NOT_FOUND"}]}');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`retry: 1\n\n${count === 3 ? '' : event(count)}`, () => {
      if (count === 1 || count === 5) response.destroy();
      else response.end();
    });
  });
  const read = async (ids: string[]) => {
    for await (const { id } of createRunApi({ url }).events({}, { lastEventId: '0' })) ids.push(id);
  };
  const ids: string[] = [];
  await expect(read(ids)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  expect(ids).toEqual(['1', '5']);
  expect(seen).toEqual(['0', '1', '1', '1', '1', '5', '5']);
  let isAway = false;
  const away = await listen((_, response) => {
    if (isAway) return void response.destroy();
    isAway = true;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`retry: 1\n\n${event(1)}`);
  });
  const later = createRunApi({ url: away }).events({})[Symbol.asyncIterator]();
  expect(await later.next()).toMatchObject({ value: { id: '1' } });
  await expect(later.next()).rejects.toMatchObject({ code: 'UNREACHABLE' });
});

test('a client of an account on a server reads a run that the library has submitted', async () => {
  const account = createRunApi({ url: hosted.api, token: hosted.tokens.member });
  const service = await connectService({ baseUrl: hosted.url, token: hosted.tokens.member });
  const p = pipeline('hosted');
  p.step('a', { command: ['true'] });
  const { runId } = await submit(p, { home: place.home, service });
  const { signal, abort } = controller();
  for await (const { type, data } of account.events({ run: [runId] }, { signal })) {
    if ((type === 'snapshot' || type === 'changes') && data.run.status === 'succeeded') abort();
  }
  expect(await account.call('getRun', { path: { runId } })).toMatchObject({ pipeline: 'hosted', status: 'succeeded' });
  await expect(createRunApi({ url: hosted.api }).call('listRuns')).rejects.toMatchObject({ name: 'SluiceError' });
  await service.close();
});

function controller() {
  const stop = new AbortController();
  return { signal: stop.signal, abort: () => stop.abort() };
}

async function listen(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server: HttpServer = createServer(answer as never);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
