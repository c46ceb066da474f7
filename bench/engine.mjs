// Containers that do nothing on the process engine, beside the floors of the same run: wall and CPU milliseconds for
// each, by how many run at once. CPU is of the whole tree: engine, launcher, containers.
//
//   node bench/engine.mjs [--count 2000] [--at-once 2,8,64] [--rounds 3] [--cores 1] [--memory 268435456] [--directory DIR]
//
// Directories are removed only at the end: ext4 is slow to make files for five seconds after many were deleted.
// `unlimited` leaves out the limits of memory and cores, `mounts` adds two volumes at mount points that are not there.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createProcessEngine } from '../packages/service/dist/engines/process/process-engine.js';
import { spawnAll, UNSHARED } from './spawn-all.mjs';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '2000' },
    'at-once': { type: 'string', default: '2,8,64' },
    rounds: { type: 'string', default: '3' },
    cores: { type: 'string', default: '1' },
    memory: { type: 'string', default: String(256 * 2 ** 20) },
    directory: { type: 'string' },
    one: { type: 'string' },
  },
});
const count = Number(values.count);
const limits = { cores: Number(values.cores), memoryBytes: Number(values.memory), gpus: 0 };

const variants = {
  'spawn, from C (xargs)': (atOnce) => timed(count, () => spawnAll(count, atOnce, ['true'])),
  'unshare, from C (xargs)': (atOnce) => timed(count, () => spawnAll(count, atOnce, UNSHARED)),
  'spawn, from Node': (atOnce) => spawnFromNode(atOnce),
  'engine, native': (atOnce, base) => runEngine({ launcher: 'native' }, { atOnce, base, limits }),
  'engine, native, mounts': (atOnce, base) => runEngine({ launcher: 'native' }, { atOnce, base, limits, volumes: 2 }),
  'engine, native, unlimited': (atOnce, base) =>
    runEngine({ launcher: 'native' }, { atOnce, base, limits: { cores: 0, memoryBytes: 0, gpus: 0 } }),
  'engine, shell': (atOnce, base) => runEngine({ launcher: 'shell' }, { atOnce, base, limits, share: 20 }),
};

// Each measurement in a process of its own, so that its CPU is that of its children and of nothing before it.
if (values.one === undefined) report();
else await measureOne(JSON.parse(values.one));

function report() {
  const base = mkdtempSync(join(values.directory ?? tmpdir(), 'sluice-bench-'));
  console.log('| ms for each container | at once | wall | CPU | wall / unshare |');
  console.log('| --- | --- | --- | --- | --- |');
  for (const atOnce of values['at-once'].split(',').map(Number)) {
    const rounds = Array.from({ length: Number(values.rounds) }, () =>
      Object.fromEntries(Object.keys(variants).map((name) => [name, inOwnProcess({ name, atOnce, base })])),
    );
    const median = (name, of) => rounds.map((round) => round[name][of]).sort((a, b) => a - b)[rounds.length >> 1];
    const floor = median('unshare, from C (xargs)', 'wall');
    for (const name of Object.keys(variants)) {
      const wall = median(name, 'wall');
      console.log(
        `| ${name} | ${atOnce} | ${wall.toFixed(2)} | ${median(name, 'cpu').toFixed(2)} | ${(wall / floor).toFixed(2)} |`,
      );
    }
  }
  rmSync(base, { recursive: true, force: true });
}

function inOwnProcess(one) {
  const args = [fileURLToPath(import.meta.url), '--one', JSON.stringify(one)];
  for (const name of ['count', 'cores', 'memory']) args.push(`--${name}`, values[name]);
  const result = spawnSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (result.status !== 0) throw new Error(`could not measure '${one.name}': code ${result.status}`);
  return JSON.parse(result.stdout);
}

async function measureOne({ name, atOnce, base }) {
  const { wall, cpu, done } = await variants[name](atOnce, base);
  process.stdout.write(JSON.stringify({ wall: wall / done, cpu: cpu / done }));
}

async function timed(done, work) {
  const cpuBefore = cpuMs();
  const from = performance.now();
  const finish = await work();
  const wall = performance.now() - from;
  await finish?.();
  return { wall, cpu: cpuMs() - cpuBefore, done };
}

/** User and system time of this process and of all children that it has waited for. */
function cpuMs() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

async function inParallel(total, atOnce, start) {
  let next = 0;
  const worker = async () => {
    while (next < total) await start(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function spawnFromNode(atOnce) {
  return timed(count, () =>
    inParallel(count, atOnce, () => new Promise((resolve) => spawn('true', { stdio: 'ignore' }).once('exit', resolve))),
  );
}

async function runEngine(config, { atOnce, base: above, limits: wanted, volumes = 0, share = 1 }) {
  const base = mkdtempSync(join(above, 'engine-'));
  const done = Math.ceil(count / share);
  const ends = new Map();
  const launches = Array.from({ length: done }, (_, i) => launchOf(base, i, { wanted, volumes }));
  const engine = createProcessEngine({ ...config, maskedPaths: [base] });
  await engine.open({
    report(key, observation) {
      if (observation.type === 'ended') ends.get(key)?.(observation.end);
    },
  });
  const result = await timed(done, async () => {
    await inParallel(done, atOnce, async (i) => {
      const launch = launches[i];
      const ended = new Promise((resolve) => ends.set(launch.key, resolve));
      await engine.launch(launch);
      const end = await ended;
      if (end.kind !== 'exited' || end.exitCode !== 0) throw new Error(`could not run: ${JSON.stringify(end)}`);
    });
    return () => engine.close();
  });
  return result;
}

function launchOf(base, index, { wanted, volumes }) {
  const directory = join(base, `c${index}`);
  mkdirSync(directory);
  const mounts = Array.from({ length: volumes }, (_, i) => {
    const root = join(base, `volume-${i}`);
    mkdirSync(root, { recursive: true });
    return { root, subPath: '', kind: 'dir', target: `/volume-${i}` };
  });
  return {
    key: `bench-${process.pid}-${index}`,
    containerID: `bench-${index}`,
    clusterID: 'bench',
    accountID: 'bench',
    command: ['true'],
    env: {},
    ports: {},
    mounts,
    limits: wanted,
    directory,
    logPath: join(directory, 'log'),
    options: {},
  };
}
