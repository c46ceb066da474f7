// Requests a second and latency of the service over HTTP with a token, with 10,000 and with 100,000 container records.
// The service runs in a process of its own with an engine whose containers end at once, so that what is measured is
// the service: API, authorization and durable store.
//
//   node bench/service.mjs [--records 10000,100000] [--seconds 5] [--rate 1000] [--connections 16]
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Pool, request } from 'undici';
import { addUser, CONTAINERS, INSTANCE_TYPE, openFakeCluster, ownMemory, USER } from './fake-cluster.mjs';

/** The measured side: a service on a port of its own, told to the parent. */
async function serve(root) {
  const service = await openFakeCluster(root, (_, end) => end());
  await addUser(root);
  const { url } = await service.listen({ host: '127.0.0.1', port: 0 });
  answerParent(url, () => service.close());
}

/** The least that a server can do: the same bytes for every request. */
async function serveBare(text) {
  const server = createServer((_, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  answerParent(`http://127.0.0.1:${server.address().port}`, async () => server.close());
}

function answerParent(url, close) {
  process.send({ url });
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message) => {
    if (message === 'usage') process.send(usage());
    if (message === 'stop') void close().then(() => process.exit(0));
  });
}

/** The CPU time is read before and after the collection, which counts for nobody. */
function usage() {
  const until = process.cpuUsage();
  const bytes = memory();
  return { ...bytes, until, from: process.cpuUsage() };
}

/**
 * Bytes of the heap in use, and bytes that the process holds of its own. The store's file is mapped into memory beside:
 * its pages belong to the page cache and go when anybody needs the room.
 */
function memory() {
  // Twice, since what a finalizer holds goes with the second.
  globalThis.gc();
  globalThis.gc();
  return { own: ownMemory(), heap: process.memoryUsage().heapUsed };
}

async function measure() {
  const { values } = parseArgs({
    options: {
      records: { type: 'string', default: '10000,100000' },
      seconds: { type: 'string', default: '5' },
      rate: { type: 'string', default: '1000' },
      connections: { type: 'string', default: '16' },
    },
  });
  const [seconds, rate, connections] = [values.seconds, values.rate, values.connections].map(Number);
  const root = mkdtempSync(join(tmpdir(), 'sluice-bench-service-'));
  const server = await startServer('--serve', root);
  const client = await openClient(server.url, { connections, headers: await login(server.url) });
  let records = 0;
  // Latencies mean little where others compute too; the CPU time of the service for each request still does.
  console.log(`load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores before the start`);
  row([
    'records',
    'request',
    'max/s',
    `at ${rate}/s`,
    'p50 ms',
    'p99 ms',
    'max ms',
    'CPU ms',
    'load CPU',
    'heap MiB',
    'own MiB',
  ]);
  for (const target of values.records.split(',').map(Number)) {
    await fill(client, { from: records, to: target });
    records = target;
    for (const [name, send] of Object.entries(requests(client, target))) {
      const most = await closedLoop(send, { seconds, connections });
      row([target, name, most.toFixed(0), ...(await steadyCells(server, send, { seconds, rate }))]);
    }
    await printFloor(client, { seconds, rate, connections });
  }
  await client.close();
  await server.stop();
  rmSync(root, { recursive: true, force: true });
}

function row(cells) {
  console.log(cells.map((cell, i) => String(cell).padStart(i === 1 ? 22 : 10)).join(''));
}

/** What a server that only sends the bytes of such a page would take: the part that no service can save. */
async function printFloor(client, { seconds, rate, connections }) {
  const text = await client.send('GET', `${CONTAINERS}?all=true&pageSize=100`);
  const bare = await startServer('--bare', text);
  const bareClient = await openClient(bare.url, { connections, headers: {} });
  const send = () => bareClient.send('GET', '/');
  const most = await closedLoop(send, { seconds, connections });
  row(['', 'bare server, 100 items', most.toFixed(0), ...(await steadyCells(bare, send, { seconds, rate }))]);
  await bareClient.close();
  await bare.stop();
}

async function steadyCells(server, send, { seconds, rate }) {
  const [before, ownBefore] = [await server.usage(), process.cpuUsage()];
  const steady = await openLoop(send, { seconds, rate });
  const [after, ownAfter] = [await server.usage(), process.cpuUsage()];
  const msEach = (from, to) => ((to.user + to.system - from.user - from.system) / 1000 / steady.count).toFixed(3);
  return [
    (steady.count / seconds).toFixed(0),
    ...[steady.p50, steady.p99, steady.max].map((ms) => ms.toFixed(2)),
    ...[msEach(before.from, after.until), msEach(ownBefore, ownAfter)],
    ...[after.heap, after.own].map((bytes) => (bytes / 2 ** 20).toFixed(0)),
  ];
}

async function startServer(...args) {
  const child = fork(fileURLToPath(import.meta.url), args, { execArgv: ['--expose-gc'] });
  const ended = new Promise((_, reject) => {
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)));
  });
  ended.catch(() => {});
  const answer = () => Promise.race([ended, new Promise((resolve) => child.once('message', resolve))]);
  const { url } = await answer();
  return {
    url,
    usage() {
      child.send('usage');
      return answer();
    },
    async stop() {
      child.send('stop');
      await ended.catch(() => {});
    },
  };
}

async function login(url) {
  const reply = await request(`${url}/user/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      token_type: 'TOKEN',
      third_party: 'SELF',
      email: USER.email,
      password: createHash('md5').update(USER.password).digest('hex'),
    }).toString(),
  });
  await reply.body.dump();
  return { authorization: `Bearer ${reply.headers.svc_token}` };
}

async function openClient(url, { connections, headers }) {
  const pool = new Pool(url, { connections: connections * 4, pipelining: 1 });
  return {
    async send(method, path, body) {
      const reply = await pool.request({
        ...{ method, path },
        headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      });
      const text = await reply.body.text();
      if (reply.statusCode !== 200) throw new Error(`${method} ${path}: ${reply.statusCode} ${text}`);
      return text;
    },
    close: () => pool.close(),
  };
}

const SPEC = JSON.stringify({ instanceType: INSTANCE_TYPE, command: ['true'], labels: { run: 'bench', step: 'none' } });
const recordId = (n) => `r${n}`;

async function fill(client, { from, to }) {
  let next = from;
  const worker = async () => {
    while (next < to) await client.send('POST', `${CONTAINERS}?containerID=${recordId(next++)}`, SPEC);
  };
  await Promise.all(Array.from({ length: 64 }, worker));
}

let created = 0;

function requests(client, records) {
  const any = () => recordId(Math.floor(Math.random() * records));
  return {
    'get a container': () => client.send('GET', `${CONTAINERS}/${any()}`),
    'list, first 100': () => client.send('GET', `${CONTAINERS}?all=true&pageSize=100`),
    'list, what is live': () => client.send('GET', CONTAINERS),
    'create a container': () => client.send('POST', `${CONTAINERS}?containerID=n${records}-${created++}`, SPEC),
  };
}

/** As fast as so many connections can: requests a second. */
async function closedLoop(send, { seconds, connections }) {
  const end = performance.now() + seconds * 1000;
  let count = 0;
  const worker = async () => {
    while (performance.now() < end) {
      await send();
      count++;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return count / seconds;
}

/**
 * At a steady rate; latency counts from when a request was due, so that a stall is not hidden by waiting for it. The
 * generator sleeps between requests: one that spins would take a core from the service that it measures.
 */
async function openLoop(send, { seconds, rate }) {
  const latencies = [];
  const pending = [];
  const start = performance.now();
  for (let sent = 0; sent < rate * seconds; ) {
    const due = Math.min(Math.floor(((performance.now() - start) / 1000) * rate) + 1, rate * seconds);
    for (; sent < due; sent++) {
      const dueAt = start + (sent / rate) * 1000;
      pending.push(send().then(() => latencies.push(performance.now() - dueAt)));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
  return { count: latencies.length, p50: at(0.5), p99: at(0.99), max: latencies.at(-1) };
}

const MODES = { '--serve': serve, '--bare': serveBare };
await (MODES[process.argv[2]] ?? measure)(process.argv[3]);
