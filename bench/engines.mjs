// Containers from create to end on a cluster of the service, beside the engine's own floor in the same run: the Engine
// API's create, start, wait and remove for Docker, sbatch and squeue for Slurm, at the same number at once.
//
//   node bench/engines.mjs --engine docker|slurm|process [--containers 200] [--at-once 64] [--queued 0] [--recover 0]
//
// With --recover N, N containers run (on Slurm: as many as there is room for, the others wait) while the service is closed
// and opened again, and the time until it is ready is printed. It counts from the call: Node.js itself has started.
// With --queued N (Slurm), N jobs are put into the queue of a drained cluster, and the CPU that one minute of watching
// them costs is printed. The environment is that of the tests: bash .ci/start-docker.sh, bash .ci/start-slurm.sh.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { createService, serviceConfigSchema } from '@sluice/service';
import { createContainerRunner, timeLanes } from './containers.mjs';

const { Pool } = createRequire(import.meta.url)('undici');
const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'process' },
    containers: { type: 'string', default: '200' },
    'at-once': { type: 'string', default: '64' },
    queued: { type: 'string', default: '0' },
    recover: { type: 'string', default: '0' },
  },
});
const { engine } = values;
const [count, atOnce, queued, living] = [values.containers, values['at-once'], values.queued, values.recover].map(
  Number,
);
const room = Math.max(atOnce, living);
const scope = { clusterID: 'c1', accountID: 'bench' };
const image = engine === 'docker' ? process.env.SLUICE_TEST_DOCKER_IMAGE : undefined;
const OPTIONS = {
  process: {},
  docker: { socketPath: process.env.SLUICE_TEST_DOCKER_SOCKET },
  slurm: { partition: 'main' },
};

/** Runs `work` for 0 … count-1, `atOnce` at a time; gives seconds. */
const timeAll = (work) => timeLanes(atOnce, count, work);

function seconds(since) {
  return Number(process.hrtime.bigint() - since) / 1e9;
}

async function openService(root) {
  const cluster = {
    id: 'c1',
    engine,
    options: OPTIONS[engine],
    accounts: ['bench'],
    instanceTypes: [{ id: 'one', cpu: 1, memory: '1GB' }],
    ...(engine === 'slurm' ? {} : { capacity: { cpu: room, memory: `${room}GB` } }),
  };
  return createService({ config: serviceConfigSchema.parse({ root, clusters: [cluster] }) });
}

const spec = { instanceType: 'one', command: ['true'], ...(image ? { image } : {}) };

async function throughService(api) {
  const containers = createContainerRunner(api, scope);
  const total = await timeAll((i) => containers.run(`bench-${i}`, spec));
  containers.close();
  return total;
}

const FLOORS = {
  process: () => timeAll(() => run('unshare', ['--user', '--map-root-user', '--mount', '--pid', '--fork', 'true'])),
  async docker() {
    const pool = new Pool('http://localhost', {
      socketPath: OPTIONS.docker.socketPath,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const call = async (method, path, body) => {
      const headers = body ? { 'content-type': 'application/json' } : {};
      const reply = await pool.request({ method, path, headers, body: body ? JSON.stringify(body) : null });
      const text = await reply.body.text();
      if (reply.statusCode >= 400) throw new Error(`${method} ${path}: ${text}`);
      return text ? JSON.parse(text) : undefined;
    };
    const body = { Image: image, Cmd: ['true'], HostConfig: { NetworkMode: 'host', NanoCpus: 1e9, Memory: 2 ** 30 } };
    const seconds = await timeAll(async () => {
      const { Id } = await call('POST', '/containers/create', body);
      await call('POST', `/containers/${Id}/start`);
      await call('POST', `/containers/${Id}/wait`);
      await call('DELETE', `/containers/${Id}`);
    });
    await pool.destroy();
    return seconds;
  },
  slurm: () =>
    timeAll(async () => {
      const args = ['--parsable', '--partition=main', '--ntasks=1', '--mem=1024M', '--output=/dev/null', '--wrap=true'];
      const jobId = (await run('sbatch', args)).stdout.trim();
      for (;;) {
        const look = run('squeue', ['--noheader', '--states=all', '--format=%T', `--jobs=${jobId}`]);
        // Hundreds of looks a second are more than the controller always answers in time.
        const { stdout } = await look.catch(() => ({ stdout: '' }));
        if (stdout.trim() === 'COMPLETED') return;
        await pause(500);
      }
    }),
};

/** Seconds of processor time of the programs that this process has started and that have ended. */
function childSeconds() {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** CPU of this process and of its calls of `squeue`, in per cent of a core, over a minute with `queued` jobs waiting. */
async function watchQueue(api) {
  const scontrol = (state, ...reason) =>
    execFileSync('scontrol', ['update', 'NodeName=n1,n2,n3', `State=${state}`, ...reason]);
  scontrol('DRAIN', 'Reason=bench');
  try {
    for (let i = 0; i < queued; i += 32) {
      const ids = Array.from({ length: Math.min(32, queued - i) }, (_, k) => `queued-${i + k}`);
      await Promise.all(ids.map((containerID) => api.containers.create(scope, spec, { containerID })));
    }
    const inQueue = () => Number(execFileSync('sh', ['-c', 'squeue --noheader | wc -l'], { encoding: 'utf8' }));
    while (inQueue() < queued) await pause(5000);
    const before = process.cpuUsage();
    const children = childSeconds();
    await pause(60_000);
    const { user, system } = process.cpuUsage(before);
    const ofCore = (seconds) => `${((seconds / 60) * 100).toFixed(1)} %`;
    const ours = ofCore((user + system) / 1e6);
    console.log(`${queued} jobs queued: ${ours} of a core, and squeue ${ofCore(childSeconds() - children)}`);
  } finally {
    execFileSync('scancel', ['--state=PENDING', `--user=${userInfo().username}`]);
    scontrol('RESUME');
  }
}

/** Seconds until a service with `living` containers of an earlier one is ready. */
async function timeRecovery(root) {
  const sleeping = { ...spec, command: ['sleep', '3600'] };
  const ids = Array.from({ length: living }, (_, i) => `living-${i}`);
  const first = await openService(root);
  const isTaken = ({ phase, state }) => phase === 'Running' || state?.startsWith('queued in Slurm');
  const left = async (api) => {
    const items = [];
    for await (const item of api.containers.list(scope)) items.push(item);
    return items;
  };
  const api = first.inProcess({ userId: 'bench', accounts: [scope] });
  for (const containerID of ids) await api.containers.create(scope, sleeping, { containerID });
  while (!(await left(api)).every(isTaken)) await pause(1000);
  await first.close();
  const start = process.hrtime.bigint();
  const second = await openService(root);
  console.log(`${engine}: ready after ${seconds(start).toFixed(2)} s with ${living} containers of an earlier service`);
  const again = second.inProcess({ userId: 'bench', accounts: [scope] });
  await Promise.all(ids.map((id) => again.containers.cancel({ ...scope, id })));
  while ((await left(again)).length > 0) await pause(1000);
  await second.close();
}

async function comparePace(root) {
  const service = await openService(root);
  const api = service.inProcess({ userId: 'bench', accounts: [scope] });
  try {
    if (queued > 0) await watchQueue(api);
    const floor = await FLOORS[engine]();
    const ours = await throughService(api);
    const perSecond = (total) => (count / total).toFixed(1);
    console.log(`${engine}: ${count} containers, ${atOnce} at once`);
    console.log(`  floor    ${perSecond(floor)} a second`);
    console.log(`  service  ${perSecond(ours)} a second, ${(ours / floor).toFixed(2)} × the floor's time`);
  } finally {
    await service.close();
  }
}

const root = mkdtempSync(join(tmpdir(), 'sluice-bench-engines-'));
try {
  await (living > 0 ? timeRecovery(root) : comparePace(root));
} finally {
  rmSync(root, { recursive: true, force: true });
}
