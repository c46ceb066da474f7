// Requests a second and latency of the service over HTTP with a token, with 10,000 and with 100,000 container records.
// The service runs in a process of its own with an engine whose containers end at once, so that what is measured is
// the service: API, authorization and durable store.
//
//   node bench/service.mjs [--records 10000,100000] [--seconds 5] [--rate 1000] [--connections 16]
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createService, openUserDirectory, serviceConfigSchema } from '@sluice/service';
import { Pool } from 'undici';

const USER = { email: 'bench@example.org', password: 'bench password' };
const SCOPE = { clusterID: 'bench', accountID: 'bench' };
const CONTAINERS = '/api/v1rc1/clusters/bench/accounts/bench/containers';

/** The measured side: a service on a port of its own, told to the parent. */
async function serve(root) {
  const config = serviceConfigSchema.parse({
    root,
    clusters: [
      {
        id: SCOPE.clusterID,
        engine: 'instant',
        accounts: [SCOPE.accountID],
        instanceTypes: [{ id: 'tiny', cores: 1, memoryGB: 1 }],
      },
    ],
  });
  const service = await createService({ config, engines: { instant: instantEngine } });
  const users = await openUserDirectory(root);
  if (users.list().length === 0) {
    await users.add(USER);
    await users.grant(USER.email, SCOPE);
  }
  await users.close();
  const { url } = await service.listen({ host: '127.0.0.1', port: 0 });
  process.send({ url });
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message) => {
    if (message === 'usage') process.send({ rss: process.memoryUsage().rss, cpu: process.cpuUsage() });
    if (message === 'stop') void service.close().then(() => process.exit(0));
  });
}

function instantEngine() {
  let sink;
  return {
    async open(to) {
      sink = to;
    },
    async launch({ key }) {
      const now = Date.now();
      sink.report(key, { type: 'running', startedAt: now, nodeID: 'bench', runID: key, host: '127.0.0.1' });
      sink.report(key, { type: 'ended', endedAt: now, end: { kind: 'exited', exitCode: 0 } });
    },
    async recover() {},
    async stop() {},
    async remove() {},
    async close() {},
  };
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
  const server = await startServer(root);
  const client = await openClient(server.url, connections);
  let records = 0;
  const row = (cells) => console.log(cells.map((cell, i) => String(cell).padStart(i === 1 ? 22 : 10)).join(''));
  // Latencies mean little where others compute too; the CPU time of the service for each request still does.
  console.log(`load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores before the start`);
  row(['records', 'request', 'max/s', `at ${rate}/s`, 'p50 ms', 'p99 ms', 'max ms', 'RSS MiB', 'CPU ms']);
  for (const target of values.records.split(',').map(Number)) {
    await fill(client, { from: records, to: target });
    records = target;
    for (const [name, send] of Object.entries(requests(client, target))) {
      const most = await closedLoop(send, { seconds, connections });
      const before = await server.usage();
      const steady = await openLoop(send, { seconds, rate });
      const after = await server.usage();
      const cpu = (after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system) / 1000 / steady.count;
      const figures = [steady.p50, steady.p99, steady.max].map((ms) => ms.toFixed(2));
      row(
        [target, name, most.toFixed(0), (steady.count / seconds).toFixed(0), ...figures].concat(
          (after.rss / 2 ** 20).toFixed(0),
          cpu.toFixed(3),
        ),
      );
    }
  }
  await client.close();
  await server.stop();
  rmSync(root, { recursive: true, force: true });
}

async function startServer(root) {
  const child = fork(fileURLToPath(import.meta.url), ['--serve', root]);
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

async function openClient(url, connections) {
  const pool = new Pool(url, { connections: connections * 4, pipelining: 1 });
  const login = await pool.request({
    method: 'POST',
    path: '/user/api/login',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      token_type: 'TOKEN',
      third_party: 'SELF',
      email: USER.email,
      password: createHash('md5').update(USER.password).digest('hex'),
    }).toString(),
  });
  await login.body.text();
  const headers = { authorization: `Bearer ${login.headers.svc_token}`, 'content-type': 'application/json' };
  return {
    async send(method, path, body) {
      const reply = await pool.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
      const text = await reply.body.text();
      if (reply.statusCode !== 200) throw new Error(`${method} ${path}: ${reply.statusCode} ${text}`);
      return text;
    },
    close: () => pool.close(),
  };
}

const SPEC = JSON.stringify({ instanceType: 'tiny', command: ['true'], labels: { run: 'bench', step: 'none' } });
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

/** At a steady rate; latency counts from when a request was due, so that a stall is not hidden by waiting for it. */
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
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(pending);
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
  return { count: latencies.length, p50: at(0.5), p99: at(0.99), max: latencies.at(-1) };
}

if (process.argv[2] === '--serve') await serve(process.argv[3]);
else await measure();
