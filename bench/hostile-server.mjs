// What a hostile account can do to a server within its limits: the memory of the process of `sluice serve`, and the
// response times of another account, whose client has a process of its own.
// Usage, after a build: node bench/hostile-server.mjs [seconds of each part]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { obtainToken } from '@sluice/client';
import { openUserDirectory } from '@sluice/service';

const COMMAND = fileURLToPath(new URL('../packages/cli/bin/sluice.js', import.meta.url));
const PASSWORD = 'sesame';
const ATTACKER = { clusterID: 'main', accountID: 'physics' };
const NEIGHBOR = { clusterID: 'other', accountID: 'physics' };
const LARGE_RUNS = 9;
const STREAMS = 64;
/** About as many as fit into the largest plan. */
const LARGEST_CELLS = 70_000;
/** Together almost as long as a server accepts. */
const LABELS = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, 'x'.repeat(4090)]));
const CONFIG = (root) => `
root: ${root}
listen: [{ host: 127.0.0.1, port: 0 }]
clusters:
${['main', 'other']
  .map(
    (id) => `  - id: ${id}
    engine: process
    capacity: { cpu: 4, memory: 4GB }
    accounts: [physics]
    instanceTypes: [{ id: small, cpu: 1, memory: 1GB }]
`,
  )
  .join('')}runs: { submissionsPerMinute: 1000000 }
`;

if (process.argv[2] === 'neighbor') await askUntilEnd(process.argv[3], process.env.NEIGHBOR_TOKEN);
else await main(Number(process.argv[2] ?? 30));

/** The neighbor: asks until standard input ends, and prints the times of its requests. */
async function askUntilEnd(api, token) {
  let isOver = false;
  process.stdin.on('end', () => {
    isOver = true;
  });
  process.stdin.resume();
  const times = [];
  while (!isOver) {
    const before = performance.now();
    const reply = await fetch(`${api}/runs`, { headers: { authorization: `Bearer ${token}` } });
    await reply.arrayBuffer();
    if (!reply.ok) throw new Error(`status ${reply.status}`);
    times.push(performance.now() - before);
    await delay(5);
  }
  times.sort((a, b) => a - b);
  const at = (share) => `${times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed()} ms`;
  console.log(`${times.length} requests, p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`);
}

async function main(seconds) {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  writeFileSync(join(directory, 'service.yaml'), CONFIG(join(directory, 'data')));
  const users = await openUserDirectory(join(directory, 'data'));
  for (const [email, scope] of [
    ['attacker@example.org', ATTACKER],
    ['neighbor@example.org', NEIGHBOR],
  ]) {
    await users.add({ email, password: PASSWORD });
    await users.grant(email, scope);
  }
  await users.close();
  const args = [COMMAND, 'serve', '--config', join(directory, 'service.yaml'), '--log-level', 'error'];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [first] = await server.stdout.take(1).toArray();
    const url = /listening on (\S+)/.exec(String(first))[1];
    const attacker = await logIn(url, ATTACKER, 'attacker@example.org');
    const neighbor = await logIn(url, NEIGHBOR, 'neighbor@example.org');
    const measure = (what, act) => measurePart(what, { server, neighbor, act });
    await measure('alone', () => delay(seconds * 1000));
    await measure('the largest plan, again and again', async () => {
      const largest = createOrder(directory, LARGEST_CELLS);
      const end = performance.now() + seconds * 1000;
      for (let at = 0; performance.now() < end; at++) await orderAndCancel(attacker, createId(at), largest);
    });
    await measure(`${LARGE_RUNS} runs with large labels, and ${STREAMS} streams that it does not read`, async () => {
      const ids = [];
      for (let at = 0; at < LARGE_RUNS; at++) {
        const runId = createId(1_000_000 + at);
        await orderRun(attacker, runId, createOrder(directory, 2000));
        ids.push(runId);
      }
      const sockets = Array.from({ length: STREAMS }, () => openStream(attacker, ids));
      await delay(seconds * 1000);
      for (const socket of sockets) socket.destroy();
    });
  } finally {
    server.kill('SIGTERM');
    await new Promise((resolve) => server.once('exit', resolve));
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measurePart(what, { server, neighbor, act }) {
  // Resets the peak.
  writeFileSync(`/proc/${server.pid}/clear_refs`, '5');
  const env = { ...process.env, NEIGHBOR_TOKEN: neighbor.token };
  const args = [fileURLToPath(import.meta.url), 'neighbor', neighbor.api];
  const client = spawn(process.execPath, args, { env, stdio: ['pipe', 'inherit', 'inherit'] });
  const ended = new Promise((resolve) => client.once('exit', resolve));
  console.log(`${what}:`);
  await act();
  client.stdin.end();
  if ((await ended) !== 0) throw new Error('a request of the neighbor failed');
  const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'));
  console.log(`  peak of the server ${Math.round(peak / 1024)} MiB; load ${loadavg()[0].toFixed(1)}`);
}

async function logIn(url, scope, email) {
  const token = await obtainToken({ baseUrl: url, login: { email, password: PASSWORD } });
  return { url, scope, token, api: `${url}/api/sluice/v1/clusters/${scope.clusterID}/accounts/${scope.accountID}` };
}

/** An order with large labels. */
function createOrder(directory, cells) {
  const pipeline = {
    ...{ version: 1, name: 'hostile', labels: LABELS },
    steps: { make: { command: 'true', matrix: { n: Array.from({ length: cells }, (_, n) => n) } } },
  };
  return {
    order: { file: join(directory, 'bench.json'), params: {} },
    pipeline: { file: 'bench.json', texts: { 'bench.json': JSON.stringify(pipeline) } },
  };
}

/** Orders a run. */
async function orderRun(account, runId, body) {
  const ordered = await request(account, 'PUT', `/runs/${runId}`, body);
  if (ordered.status !== 200) throw new Error(`could not order a run: ${JSON.stringify(ordered)}`);
}

/** Orders a run, reads all about it, and cancels it. */
async function orderAndCancel(account, runId, body) {
  await orderRun(account, runId, body);
  for (const path of ['', '/states', '/cells', '/moves', '/pipeline'])
    await request(account, 'GET', `/runs/${runId}${path}`);
  await request(account, 'POST', `/runs/${runId}:cancel`, {});
}

/** An ID that the server does not know. */
function createId(at) {
  const letters = [...at.toString(8)].map((digit) => 'abcdefgh'[Number(digit)]);
  return letters.join('').padStart(13, 'a');
}

async function request({ api, token }, method, path, body) {
  const reply = await fetch(`${api}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: reply.status, text: (await reply.text()).slice(0, 500) };
}

/** A stream of events that is never read. */
function openStream({ url, api, token }, runs) {
  const { hostname, port } = new URL(url);
  const query = new URLSearchParams([['list', 'true'], ...runs.map((runId) => ['run', runId])]);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  const path = `${new URL(api).pathname}/events?${query}`;
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${token}\r\n\r\n`);
  return socket;
}
