import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { createRandom, HOSTILE_PIECES, mutateText, pick } from '../mutate-text.ts';
import { API, openRawHttp, type RawHttp } from './raw-http.ts';

const OBSERVED = new URL('../../../../../shared/data/api/observed-client-requests.json', import.meta.url);
const REQUESTS = 250;

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: string;
}

let http: RawHttp;
beforeAll(async () => {
  http = await openRawHttp({ engine: 'fake', engines: { fake: () => new FakeEngine() } });
});
afterAll(() => http.close());

it.skipIf(!existsSync(OBSERVED) && process.env.CI !== 'true')(
  'a mutated request gets a reply, never an internal error, and changes nothing if it is rejected',
  async () => {
    const seed = Number(process.env.SLUICE_FUZZ_SEED ?? Date.now() % 1e9);
    const random = createRandom(seed);
    const originals = [...recorded(), ...OWN];
    for (let i = 0; i < REQUESTS; i++) {
      const bytes = render(mutate(pick(originals, random), random), random);
      const story = `SLUICE_FUZZ_SEED=${seed}, request ${i}: ${JSON.stringify(bytes)}`;
      const before = await everything();
      const reply = await exchange(bytes);
      expect(reply, story).toMatch(/^HTTP\/1\.1 [234]\d\d /);
      if (!/^HTTP\/1\.1 [23]/.test(reply)) expect(await everything(), story).toBe(before);
    }
    expect((await http.send('GET', '/healthz')).status).toBe(200);
  },
);

const OWN: readonly Sent[] = [
  ['GET', `${API}/containers?all=true&pageSize=2`],
  ['GET', `${API}/containers/c1/logs?tail=1`],
  ['POST', `${API}/containers/c1:cancel`],
  ['DELETE', `${API}/containers/c1`],
  ['POST', `${API}/volumes/v1:undelete`],
  ['DELETE', `${API}/volumes/v1?force=true`],
  ['PROPFIND', '/dav/one/mine/v1/'],
  [
    'POST',
    `${API}/containers?containerID=c1`,
    '{"instanceType":"small","image":"a","command":["b",""],"ports":{"web":{}},"volumeMounts":{"v1:s:dir":"/d"},"labels":{"k":"v"},"envs":{"E":"1"}}',
  ],
  ['POST', `${API}/volumes?volumeID=v1`, '{"service":{}}'],
].map(([method = '', url = '', body = '']) => ({
  ...{ method, url, body },
  headers: body === '' ? [] : ['Content-Type: application/json'],
}));

function recorded(): Sent[] {
  const file = JSON.parse(readFileSync(OBSERVED, 'utf8')) as {
    recorded: { request: { method: string; url: string; headers: Record<string, string>; body: string } }[];
  };
  return file.recorded.map(({ request: { method, url, headers, body } }) => ({
    ...{ method, body },
    url: url.replace('/N1/', '/one/').replace('/acc1/', '/mine/'),
    headers: Object.entries(headers)
      .filter(([name]) => name !== 'authorization' && name !== 'content-length')
      .map(([name, value]) => `${name}: ${value}`),
  }));
}

/** Mutates one part of the request one to three times: a fragment is inserted, removed or repeated. */
function mutate(sent: Sent, random: () => number): Sent {
  let mutated = sent;
  for (let slips = 1 + Math.floor(random() * 3); slips > 0; slips--) {
    const { headers, ...parts } = mutated;
    const part = pick(['method', 'url', 'url', 'headers', 'body', 'body'] as const, random);
    if (part === 'headers')
      mutated = { ...mutated, headers: [...headers, pick(HOSTILE_PIECES, random), ...headers.slice(0, 1)] };
    else mutated = { ...mutated, [part]: mutateText(parts[part], random) };
  }
  return mutated;
}

function render({ method, url, headers, body }: Sent, random: () => number): string {
  const token = random() < 0.95 ? [`Authorization: Bearer ${http.token}`] : [];
  const head = [`${method} ${url} HTTP/1.1`, 'Host: x', 'Connection: close', ...token, ...headers];
  return `${[...head, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
}

/** Everything received until the service closes the connection. */
function exchange(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(new URL(http.url).port), '127.0.0.1', () => socket.write(bytes, 'latin1'));
    socket.setTimeout(10_000, () => reject(new Error(`no end of the reply to ${JSON.stringify(bytes)}`)));
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1');
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(text.replace('HTTP/1.1 100 Continue\r\n\r\n', '')));
  });
}

async function everything(): Promise<string> {
  const lists = await Promise.all(['containers?all=true', 'volumes'].map((list) => http.send('GET', `${API}/${list}`)));
  return lists.map(({ text }) => text.replaceAll(/"state":"[^"]*"/g, '')).join('\n');
}
