// What a large run does to small runs of the same host: twenty runs of three steps each, alone and beside a run of 100,000
// cells that has filled the cluster. Containers take 50 ms and start no process, so that host and service are measured.
// Usage, after a build: node bench/host-fairness.mjs [cells]
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { createPlan, parsePipeline } from '@sluice/core';
import { moveRun, readRunSummary } from '@sluice/home';
import { openRunHost } from '@sluice/host';
import { submitRun } from '@sluice/runner';
import { openFakeCluster, PRINCIPAL, SCOPE } from './fake-cluster.mjs';

const cells = Number(process.argv[2] ?? 100_000);
const SMALL_RUNS = 20;
const CONTAINER_MS = 50;
const CORES = 8;
let launches = 0;

const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const home = join(directory, 'home');
const cluster = await openFakeCluster(
  join(directory, 'service'),
  (_launch, end) => {
    launches++;
    setTimeout(end, CONTAINER_MS);
  },
  { cpu: CORES, memory: '64GB' },
);
const service = cluster.inProcess(PRINCIPAL);
const host = await openRunHost({
  ...{ home, isBackground: false, env: {}, log: () => {}, readSecret: () => undefined },
  openService: async () => ({ ok: true, value: { service, close: async () => {} } }),
});

const command = ['true'];
const small = plan({ a: { command }, b: { command, needs: ['a'] }, c: { command, needs: ['b'] } });
const large = plan({ all: { command, matrix: { i: Array.from({ length: cells }, (_, i) => i) } } });

try {
  await measure('before compilation');
  const alone = await measure('alone');
  const [runId] = await submit([large]);
  host.take(runId);
  // The queue of the cluster is full.
  const before = launches;
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  while (launches < before + 100) await delay(10);
  console.log(`the large run started: lag ${describe(lag)}`);
  const beside = await measure('beside the large run');
  const { status } = await readRunSummary(home, runId);
  if (status !== 'running') throw new Error(`the large run was over before the small ones: ${status}`);
  const ratio = (key) => (beside[key] / alone[key]).toFixed(1);
  console.log(
    `beside ${cells} cells: median ${ratio('median')} times, slowest ${ratio('slowest')} times as long; load ${loadavg()[0].toFixed(1)}`,
  );
} finally {
  await host.close();
  await cluster.close();
  rmSync(directory, { recursive: true, force: true });
}

function plan(steps) {
  const parsed = parsePipeline({ text: JSON.stringify({ version: 1, name: 'bench', steps }), file: 'bench.json' });
  return createPlan(parsed.value.pipeline, {}).value;
}

async function submit(plans) {
  const ids = [];
  for (const one of plans) {
    const submitted = await submitRun({ plan: one, service, home, scope: SCOPE, baseDir: directory });
    if (!submitted.ok) throw new Error(submitted.error.message);
    await moveRun({ home, runId: submitted.value.runId }, 'detach');
    ids.push(submitted.value.runId);
  }
  return ids;
}

/** How long each of the small runs takes from its request to its end, in milliseconds. */
async function measure(name) {
  const left = new Set(await submit(Array(SMALL_RUNS).fill(small)));
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  const begun = performance.now();
  for (const runId of left) host.take(runId);
  const took = [];
  while (left.size > 0) {
    await delay(5);
    const hosted = new Set(host.status().runs.map(({ runId }) => runId));
    for (const runId of left) {
      if (hosted.has(runId)) continue;
      left.delete(runId);
      took.push(Math.round(performance.now() - begun));
    }
  }
  const [median, slowest] = [took[Math.floor(took.length / 2)], took.at(-1)];
  console.log(`${name}: median ${median} ms, slowest ${slowest} ms; lag ${describe(lag)}`);
  return { median, slowest };
}

function describe(lag) {
  const [p99, longest] = [lag.percentile(99), lag.max].map((ns) => Math.round(ns / 1e6));
  return `p99 ${p99} ms, longest ${longest} ms`;
}
