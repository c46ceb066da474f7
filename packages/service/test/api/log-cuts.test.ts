import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { createHttpService } from '@sluice/client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { limitLog } from '../../src/engines/limit-log.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { PRINCIPAL, SCOPE } from '../service-rig.ts';
import { API, openRawHttp, type RawHttp } from './raw-http.ts';

const LIMIT = 1_000_000;
const START = LIMIT / 2;

let http: RawHttp;
let engine: FakeEngine;
beforeAll(async () => {
  engine = new FakeEngine();
  const engines = { fake: ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine()) };
  http = await openRawHttp({ engine: 'fake', engines, config: { logs: { max: '1MB' } } });
});
afterAll(() => http.close());

/** A running container with a log of 900,000 bytes, and the path of the log. */
async function run(id: string): Promise<string> {
  const body = JSON.stringify({ instanceType: 'small', image: 'x' });
  await http.send('POST', `${API}/containers?containerID=${id}`, { body });
  await expect.poll(() => engine.launched.size > 0 && engine.launchOf(id)).toBeTruthy();
  engine.run(id);
  const path = engine.launchOf(id).logPath;
  writeFileSync(path, lines('before', 900_000));
  return path;
}

/** So many bytes of lines of ten bytes. */
function lines(word: string, bytes: number): string {
  return `${word.padEnd(9, '.')}\n`.repeat(bytes / 10);
}

async function cutOf(id: string): Promise<string | null> {
  const reply = await http.send('GET', `${API}/containers/${id}/logs?tail=1`);
  const header = reply.headers['sluice-log-cut'];
  return header === undefined ? null : String(header);
}

/** Forwards connections to the service until they are cut. */
async function openForwarder(): Promise<{ url: string; cut(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const up = connect(Number(new URL(http.url).port), '127.0.0.1');
    for (const end of [socket, up]) sockets.add(end.on('error', () => {}));
    socket.pipe(up).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`, cut };
}

it('the reply with a log names its last cut, another one after each cut, over HTTP and in process', async () => {
  const log = await run('cut');
  expect(await cutOf('cut')).toBeNull();
  appendFileSync(log, lines('more', 200_000));
  await limitLog(log, LIMIT);
  expect(await cutOf('cut')).toBe(`${START}/${1_100_000 - START - 250_000}`);
  const first = await cutOf('cut');
  appendFileSync(log, lines('grown', 100_000));
  expect(await cutOf('cut')).toBe(first);
  appendFileSync(log, lines('grown', 400_000));
  await limitLog(log, LIMIT);
  const second = await cutOf('cut');
  expect(second).toMatch(new RegExp(`^${START}/\\d+$`));
  expect(second).not.toBe(first);
  const [start, id] = second?.split('/') ?? [];
  const cut = { start: Number(start), id };
  const service = http.rig.service.inProcess(PRINCIPAL);
  expect(await service.containers.openLog?.({ ...SCOPE, id: 'cut' })).toMatchObject({ cut });
  const cuts: unknown[] = [];
  const reading = service.containers.logs({ ...SCOPE, id: 'cut' }, { onCut: (one) => void cuts.push(one) });
  for await (const _ of reading);
  expect(cuts).toEqual([cut]);
});

it('a follower whose connection was cut together with the log, which has grown since, loses neither line nor end', async () => {
  const log = await run('followed');
  const forwarder = await openForwarder();
  const client = createHttpService({ baseUrl: forwarder.url, token: http.token });
  onTestFinished(() => client.close());
  let text = '';
  const following = (async () => {
    for await (const part of client.containers.logs({ ...SCOPE, id: 'followed' }, { follow: true })) {
      text += Buffer.from(part).toString();
    }
  })();
  await expect.poll(() => text.length).toBe(900_000);
  forwarder.cut();
  appendFileSync(log, lines('lost', 400_000));
  await limitLog(log, LIMIT);
  appendFileSync(log, lines('grown', 200_000));
  const now = readFileSync(log, 'utf8');
  expect(now.length).toBeGreaterThan(900_000);
  await expect.poll(() => text.length).toBeGreaterThanOrEqual(900_000 + now.length - START);
  engine.end('followed');
  await following;
  expect(text.slice(900_000)).toBe(now.slice(START));
});

it('the last cut is known after a restart of the service, because the log names it', async () => {
  const log = await run('kept');
  appendFileSync(log, lines('more', 200_000));
  await limitLog(log, LIMIT);
  const service = await http.rig.restart();
  const cut = { start: START, id: '350000' };
  expect(await service.inProcess(PRINCIPAL).containers.openLog?.({ ...SCOPE, id: 'kept' })).toMatchObject({ cut });
});
