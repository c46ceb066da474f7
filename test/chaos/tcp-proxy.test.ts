import { createServer } from 'node:http';
import { request } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRandom } from '../../packages/run/test/random.ts';
import { until } from '../e2e/workplace-rig.ts';
import { createTcpProxy, type TcpProxy } from './tcp-proxy-rig.ts';

const CALLS = 400;

let proxy: TcpProxy;
let arrived: Map<string, number>;
const service = createServer((incoming, outgoing) => {
  const name = incoming.url ?? '';
  arrived.set(name, (arrived.get(name) ?? 0) + 1);
  outgoing.end('x'.repeat(300));
});

beforeEach(async () => {
  arrived = new Map();
  proxy = await createTcpProxy(createRandom('proxy'));
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  proxy.target = (service.address() as { port: number }).port;
});

afterEach(async () => {
  await proxy.close();
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
});

/** Whether a whole reply came. */
async function call(name: string): Promise<boolean> {
  try {
    const { body } = await request(`http://127.0.0.1:${proxy.port}/${name}`);
    return (await body.text()).length === 300;
  } catch {
    return false;
  }
}

test('the proxy hands everything through while nothing is to go wrong', async () => {
  for (let i = 0; i < 20; i++) expect(await call(`${i}`)).toBe(true);
  expect([...arrived.values()]).toEqual(Array(20).fill(1));
});

test('the proxy loses requests, loses replies of requests that arrived, and repeats requests', async () => {
  proxy.faultRate = 0.5;
  const answered: boolean[] = [];
  for (let i = 0; i < CALLS; i++) answered.push(await call(`${i}`));
  const has = (i: number, times: number) => (arrived.get(`/${i}`) ?? 0) >= times;
  expect(answered.some((isAnswered, i) => !isAnswered && !has(i, 1))).toBe(true);
  expect(answered.some((isAnswered, i) => !isAnswered && has(i, 1))).toBe(true);
  await until(() => answered.some((isAnswered, i) => isAnswered && has(i, 2)), 'a request to arrive twice');
  expect(answered.every((isAnswered, i) => !isAnswered || has(i, 1))).toBe(true);
});
