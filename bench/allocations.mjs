// Containers in allocations of Slurm, through the service: how many jobs they need, what a step costs, whether a chain waits for
// Slurm, how much of the cores is used, compared with a greedy schedule of the same steps in the same order, and what the
// controller and the service cost. The floor is a process in namespaces of its own, started from C in the same run.
//
//   node bench/allocations.mjs [--steps 10000] [--chains 1000] [--mixed 1000] [--jobs 100] [--at-once 256] [--nodes 1]
//
// 0 leaves a part out. The environment is that of the tests: bash .ci/start-docker.sh, bash .ci/start-slurm.sh.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createService, serviceConfigSchema } from '@sluice/service';
import { createContainerRunner, timeLanes } from './containers.mjs';
import { spawnAll, UNSHARED } from './spawn-all.mjs';

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '10000' },
    chains: { type: 'string', default: '1000' },
    mixed: { type: 'string', default: '1000' },
    // Without allocations: each is a job.
    jobs: { type: 'string', default: '100' },
    'at-once': { type: 'string', default: '256' },
    // Of each allocation: 1 or 3.
    nodes: { type: 'string', default: '1' },
  },
});
const [steps, chains, mixed, jobs, atOnce, nodes] = ['steps', 'chains', 'mixed', 'jobs', 'at-once', 'nodes'].map(
  (name) => Number(values[name]),
);
const NODES = 3;
const CORES = 4;
const CHAIN = 5;
const FLOOR_COUNT = 2_000;
const scope = { clusterID: 'c1', accountID: 'bench' };

const root = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const calls = countPrograms(['sbatch', 'squeue', 'scancel']);
const service = await createService({
  config: serviceConfigSchema.parse({
    root,
    clusters: [
      {
        id: 'c1',
        engine: 'slurm',
        options: {
          partition: 'main',
          allocations: { nodes, max: NODES / nodes, backlog: NODES / nodes, timeLimit: '1h' },
        },
        accounts: ['bench'],
        instanceTypes: [{ id: 'one', cpu: 1, memory: '1GB' }],
      },
      {
        id: 'jobs',
        engine: 'slurm',
        options: { partition: 'main' },
        accounts: ['bench'],
        instanceTypes: [{ id: 'one', cpu: 1, memory: '1GB' }],
      },
    ],
  }),
});
const scopeOfJobs = { ...scope, clusterID: 'jobs' };
const api = service.inProcess({ userId: 'bench', accounts: [scope, scopeOfJobs] });
const containers = createContainerRunner(api, scope);
let made = 0;

// The first allocation has begun, and the size of a node is known.
await runStep('true');
if (steps > 0) {
  const before = measure();
  const total = await timeLanes(atOnce, steps, () => runStep('true'));
  print(`${steps} x true`, `${((total / steps) * 1000).toFixed(2)} ms a step`, before);
  const floor = floorMs();
  const ratio = ((total * 1000) / steps / floor).toFixed(2);
  console.log(`${FLOOR_COUNT} x unshare true, from C: ${floor.toFixed(2)} ms each; a step takes ${ratio} times that`);
}
if (chains > 0) {
  const before = measure();
  let longest = 0;
  const total = await timeLanes(atOnce, chains, async () => {
    for (let index = 0; index < CHAIN; index++) {
      const start = performance.now();
      await runStep('true');
      longest = Math.max(longest, performance.now() - start);
    }
  });
  const each = `${((total / chains / CHAIN) * 1000).toFixed(2)} ms a step, the longest ${(longest / 1000).toFixed(2)} s`;
  print(`${chains} chains of ${CHAIN}`, each, before);
}
if (mixed > 0) {
  const before = measure();
  // The same for each run: 0.1 to 6 s.
  const seconds = Array.from({ length: mixed }, (_, index) => 0.1 + ((index * 7919) % 1000) * 0.0059);
  const total = await timeLanes(mixed, mixed, (index) => runStep('sleep', String(seconds[index])));
  const greedy = greedySeconds(seconds, NODES * CORES);
  const ratio = ((100 * greedy) / total).toFixed(1);
  print(`${mixed} steps of 0.1 to 6 s`, `${total.toFixed(1)} s, greedy ${greedy.toFixed(1)} s: ${ratio} %`, before);
}
containers.close();
if (jobs > 0) {
  const asJobs = createContainerRunner(api, scopeOfJobs);
  const before = measure();
  const total = await timeLanes(jobs, jobs, (index) =>
    asJobs.run(`job-${index}`, { instanceType: 'one', command: ['true'] }),
  );
  print(`${jobs} x true as jobs`, `${((total / jobs) * 1000).toFixed(2)} ms a step`, before);
  asJobs.close();
}
await service.close();
// Without a service, they would end after their idle timeout.
execFileSync('scancel', ['--name=sluice-allocation', `--user=${userInfo().username}`]);
// Their nodes may write there until they have ended.
rmSync(root, { recursive: true, force: true, maxRetries: 50, retryDelay: 200 });

/** Runs one container to its success, and removes it. */
async function runStep(...command) {
  const id = `bench-${made++}`;
  await containers.run(id, { instanceType: 'one', command });
  await api.containers.delete({ ...scope, id }).catch(() => undefined);
}

/** Milliseconds for a process in namespaces of its own, as many at once as the nodes have cores. */
function floorMs() {
  const from = performance.now();
  spawnAll(FLOOR_COUNT, NODES * CORES, UNSHARED);
  return (performance.now() - from) / FLOOR_COUNT;
}

/** How long the steps take in their order on so many cores, with nothing between them. */
function greedySeconds(seconds, cores) {
  const free = new Float64Array(cores);
  for (const one of seconds) {
    const first = free.indexOf(Math.min(...free));
    free[first] += one;
  }
  return Math.max(...free);
}

/** Puts programs in front of Slurm's own that note each call. Returns a function for the calls so far. */
function countPrograms(names) {
  const { PATH = '' } = process.env;
  for (const name of names) {
    const file = join(root, name);
    writeFileSync(file, `#!/bin/sh\necho >>'${file}.calls'\nPATH='${PATH}' exec ${name} "$@"\n`);
    chmodSync(file, 0o755);
  }
  process.env.PATH = `${root}:${PATH}`;
  return () =>
    Object.fromEntries(
      names.map((name) => {
        const file = join(root, `${name}.calls`);
        return [name, existsSync(file) ? readFileSync(file).length : 0];
      }),
    );
}

function print(what, result, { counts: before, controller, service }) {
  const now = measure();
  const counts = Object.keys(now.counts).map((name) => `${now.counts[name] - before[name]} ${name}`);
  const cpu = `CPU of the controller ${(now.controller - controller).toFixed(1)} s, of this process ${(now.service - service).toFixed(1)} s`;
  console.log(`${what}: ${result}; ${counts.join(', ')}; ${cpu}`);
}

/** Calls so far, and seconds of CPU time. */
function measure() {
  const { user, system } = process.cpuUsage();
  return { counts: calls(), controller: controllerSeconds(), service: (user + system) / 1e6 };
}

function controllerSeconds() {
  const pid = execFileSync('pgrep', ['-x', 'slurmctld'], { encoding: 'utf8' }).trim().split('\n')[0];
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
