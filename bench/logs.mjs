// What the service pays while nothing happens, and what logs cost it: thousands of followers, readers who do not read,
// and logs of many gigabytes. The service runs in a process of its own with an engine whose containers only stand
// there; their logs are written from here.
//
//   node bench/logs.mjs [--follows 10000] [--slow 100] [--gigabytes 10] [--seconds 10]
import { execFile, fork, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  createReadStream,
  existsSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { connect } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CONTAINERS, INSTANCE_TYPE, openFakeCluster, ownMemory, PRINCIPAL, SCOPE } from './fake-cluster.mjs';

const SPEC = { instanceType: INSTANCE_TYPE, image: 'none' };
const MIB = 2 ** 20;

/** The measured side: creates as many containers as there are logs, and tells where each of them is. */
async function serve(root, count) {
  const logs = [];
  const service = await openFakeCluster(root, ({ containerID, logPath }) => {
    logs[Number(containerID.slice(1))] = logPath;
  });
  const { containers } = service.inProcess(PRINCIPAL);
  globalThis.gc();
  const emptyOwn = ownMemory();
  for (let i = 0; i < Number(count); i++) await containers.create(SCOPE, SPEC, { containerID: `c${i}` });
  const socketPath = join(root, 'bench.sock');
  await service.listen({ socketPath, principal: PRINCIPAL });
  process.send({ socketPath, logs, emptyOwn });
  process.on('disconnect', () => process.exit(0));
  process.on('message', () => {
    const until = process.cpuUsage();
    globalThis.gc();
    process.send({ until, from: process.cpuUsage(), at: performance.now(), own: ownMemory() });
  });
}

async function measure() {
  const { values } = parseArgs({
    options: {
      follows: { type: 'string', default: '10000' },
      slow: { type: 'string', default: '100' },
      gigabytes: { type: 'string', default: '10' },
      seconds: { type: 'string', default: '10' },
    },
  });
  const [follows, slow, gigabytes, seconds] = ['follows', 'slow', 'gigabytes', 'seconds'].map((it) =>
    Number(values[it]),
  );
  const root = mkdtempSync(join(tmpdir(), 'sluice-bench-logs-'));
  const server = await startServer(root, follows);
  console.log(`load ${loadavg()[0]?.toFixed(1)} before the start`);
  await measureIdle(server, { containers: follows, seconds });
  await measureFollows(server, { follows, seconds });
  await measureBig(server, { gigabytes, slow });
  server.stop();
  rmSync(root, { recursive: true, force: true });
}

async function measureIdle(server, { containers, seconds }) {
  const from = await server.usage();
  await sleep(seconds * 1000);
  const to = await server.usage();
  const busyMs = (to.until.user + to.until.system - from.from.user - from.from.system) / 1000;
  const each = ((to.own - server.emptyOwn) / containers) | 0;
  console.log(
    `${containers} containers live, nothing happens for ${seconds} s: ${busyMs.toFixed(0)} ms of CPU, ${mib(to.own)}, ${kib(each)} each`,
  );
}

async function measureFollows(server, { follows, seconds }) {
  const before = await server.usage();
  const heard = new Map();
  const followers = [];
  for (let i = 0; i < follows; i++) {
    followers.push(follow(server.socketPath, `c${i}`, () => heard.set(i, performance.now())));
    if (i % 200 === 199) await Promise.all(followers.slice(-200).map(({ open }) => open));
  }
  await Promise.all(followers.map(({ open }) => open));
  const opened = await server.usage();
  console.log(`${follows} follows open: ${mib(opened.own)}, ${kib((opened.own - before.own) / follows)} each`);
  const idle = await over(server, seconds);
  console.log(`while nothing comes for ${seconds} s: ${idle.cpu} of a core, get p50 ${idle.p50} p99 ${idle.p99} ms`);

  const writtenAt = performance.now();
  for (const path of server.logs) appendFileSync(path, 'a line\n');
  const writtenBy = performance.now();
  while (heard.size < follows) await sleep(5);
  const late = [...heard.values()].map((at) => at - writtenAt).sort((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((share) => late[Math.floor(late.length * share)].toFixed(0));
  console.log(
    `a line in each, written in ${(writtenBy - writtenAt).toFixed(0)} ms, is heard after p50 ${p50} p99 ${p99} ms`,
  );
  for (const { socket } of followers) socket.destroy();
  await sleep(500);
  console.log(`all gone: ${mib((await server.usage()).own)}`);
}

async function measureBig(server, { gigabytes, slow }) {
  const file = openSync(server.logs[0], 'w');
  ftruncateSync(file, gigabytes * 1e9);
  writeSync(file, `\n${'x'.repeat(1_000_000)}\n`, gigabytes * 1e9);
  closeSync(file);
  const before = await server.usage();
  const readers = Array.from({ length: slow }, () => follow(server.socketPath, 'c0', () => {}, 1));
  await Promise.all(readers.map(({ open }) => open));
  const held = await over(server, 3);
  const holding = ((await server.usage()).own - before.own) / MIB;
  console.log(
    `${slow} readers who read nothing of ${gigabytes} GB: ${holding.toFixed(0)} MiB more, ${held.cpu} of a core, get p99 ${held.p99} ms`,
  );
  for (const { socket } of readers) socket.destroy();

  await measureWhole(server, gigabytes);
  const tailAt = performance.now();
  const bytes = await download(server.socketPath, '?tail=1');
  console.log(
    `tail=1 of it, a line of a million bytes: ${bytes} bytes in ${(performance.now() - tailAt).toFixed(0)} ms`,
  );
}

/** One reader of the whole, beside nginx and a bare Node server with the same file in the same run, in turns. */
async function measureWhole(server, gigabytes) {
  const nginx = await startNginx(dirname(server.logs[0]));
  const bare = await startBare(server.logs[0]);
  // Else whoever comes first would fill the page cache for all.
  for await (const _ of createReadStream(server.logs[0], { highWaterMark: MIB }));
  const before = (await server.usage()).own;
  for (let round = 0; round < 2; round++) {
    const from = await server.usage();
    const ours = fetchWhole(server.socketPath, `${CONTAINERS}/c0/logs`);
    let most = 0;
    while (!ours.isDone()) {
      // Without asking the server, whose collection of garbage would cost half of the speed.
      most = Math.max(most, ownMemory(server.pid));
      await sleep(200);
    }
    const to = await server.usage();
    const cpu = (to.until.user + to.until.system - from.from.user - from.from.system) / 1e6 / gigabytes;
    const speed = await ours.done;
    const theirs = nginx && (await fetchWhole(nginx.socketPath, '/log').done);
    const piped = await fetchWhole(bare.socketPath, '/').done;
    console.log(
      [
        `all ${gigabytes} GB read by one: ${speed.toFixed(0)} MB/s, ${cpu.toFixed(2)} s of CPU a GB`,
        `at most ${((most - before) / MIB).toFixed(0)} MiB more`,
        nginx === undefined
          ? 'nginx is missing'
          : `nginx ${theirs.toFixed(0)} MB/s, ratio ${(speed / theirs).toFixed(2)}`,
        `a bare pipe ${piped.toFixed(0)} MB/s, ratio ${(speed / piped).toFixed(2)}`,
      ].join('; '),
    );
  }
  nginx?.stop();
  bare.stop();
}

/** A server of `node:http` that pipes the file, in blocks as large as ours, and does nothing else. */
async function startBare(path) {
  const child = fork(fileURLToPath(import.meta.url), ['--pipe', path]);
  const socketPath = await new Promise((resolve) => child.once('message', resolve));
  return { socketPath, stop: () => child.disconnect() };
}

function pipeOnly(path) {
  const at = mkdtempSync(join(tmpdir(), 'sluice-bare-'));
  const server = createServer((_, reply) => createReadStream(path, { highWaterMark: MIB / 4 }).pipe(reply));
  server.listen(join(at, 'socket'), () => process.send(join(at, 'socket')));
  process.on('disconnect', () => {
    rmSync(at, { recursive: true, force: true });
    process.exit(0);
  });
}

/** MB/s at which curl gets a path, to nowhere. */
function fetchWhole(socketPath, path) {
  const args = ['-sSf', '-o', '/dev/null', '-w', '%{speed_download}', '--unix-socket', socketPath];
  let isDone = false;
  const done = new Promise((resolve, reject) => {
    execFile('curl', [...args, `http://localhost${path}`], (error, stdout) => {
      isDone = true;
      if (error) reject(error);
      else resolve(Number(stdout) / 1e6);
    });
  });
  return { done, isDone: () => isDone };
}

async function startNginx(directory) {
  if (spawnSync('nginx', ['-v']).status !== 0) return undefined;
  const at = mkdtempSync(join(tmpdir(), 'sluice-nginx-'));
  const socketPath = join(at, 'socket');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${at}/${name};`);
  writeFileSync(
    join(at, 'nginx.conf'),
    `daemon off; pid ${at}/pid; error_log ${at}/error.log; worker_processes 1; ${process.getuid() === 0 ? 'user root;' : ''}
     events {} http { access_log off; sendfile on; ${paths.join(' ')} server { listen unix:${socketPath}; root ${directory}; } }`,
  );
  const child = spawn('nginx', ['-c', join(at, 'nginx.conf'), '-p', at], { stdio: 'ignore' });
  while (!existsSync(socketPath)) await sleep(50);
  const stop = () => {
    child.kill();
    rmSync(at, { recursive: true, force: true });
  };
  return { socketPath, stop };
}

/** CPU of the service over so many seconds, and the latency of a get now and then. */
async function over(server, seconds) {
  const from = await server.usage();
  const latencies = [];
  while (performance.now() < from.receivedAt + seconds * 1000) {
    const at = performance.now();
    await download(server.socketPath, '', 'c1');
    latencies.push(performance.now() - at);
    await sleep(20);
  }
  const to = await server.usage();
  const busy = (to.until.user + to.until.system - from.from.user - from.from.system) / 1e6;
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(latencies.length * share)].toFixed(1);
  return { cpu: `${((100 * busy) / ((to.at - from.at) / 1000)).toFixed(0)} %`, p50: at(0.5), p99: at(0.99) };
}

/** A follower over a socket of its own. With `most`, it stops reading after so many pieces. */
function follow(socketPath, id, heard, most = Number.POSITIVE_INFINITY) {
  const socket = connect(socketPath);
  socket.write(`GET ${CONTAINERS}/${id}/logs?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  let pieces = 0;
  const open = new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('data', (data) => {
      pieces++;
      if (pieces >= most) socket.pause();
      // The head of the reply comes at once, whatever the log holds.
      if (pieces === 1) resolve(undefined);
      else if (data.includes('a line')) heard();
    });
  });
  return { socket, open };
}

/** Reads a log to its end and counts; with another container, its record. */
function download(socketPath, query, id) {
  const path = id === undefined ? `${CONTAINERS}/c0/logs${query}` : `${CONTAINERS}/${id}`;
  return new Promise((resolve, reject) => {
    get({ socketPath, path, agent }, (reply) => {
      let bytes = 0;
      reply.on('data', (data) => {
        bytes += data.length;
      });
      reply.once('end', () => resolve(bytes));
      reply.once('error', reject);
    }).once('error', reject);
  });
}

const agent = new Agent({ keepAlive: true });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const mib = (bytes) => `${(bytes / MIB).toFixed(0)} MiB`;
const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;

async function startServer(root, count) {
  const args = ['--serve', root, String(count)];
  const child = fork(fileURLToPath(import.meta.url), args, { execArgv: ['--expose-gc'] });
  const answer = () => new Promise((resolve) => child.once('message', resolve));
  const { socketPath, logs, emptyOwn } = await answer();
  return {
    ...{ socketPath, logs, emptyOwn, pid: child.pid },
    async usage() {
      child.send('usage');
      return { ...(await answer()), receivedAt: performance.now() };
    },
    stop: () => child.disconnect(),
  };
}

if (process.argv[2] === '--serve') await serve(process.argv[3], process.argv[4]);
else if (process.argv[2] === '--pipe') pipeOnly(process.argv[3]);
else await measure();
