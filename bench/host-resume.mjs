// How long a host takes to resume many suspended runs whose containers still run, and what it then asks the service while
// they continue. Each run has one container. The service is in memory, so that the host alone is measured.
// Usage, after a build: node bench/host-resume.mjs [runs]
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createPlan, parsePipeline } from '@sluice/core';
import { moveRun } from '@sluice/home';
import { openRunHost } from '@sluice/host';
import { startRun } from '@sluice/runner';
import { SCOPE } from './fake-cluster.mjs';
import { openSimulated } from './simulated-service.mjs';

const runs = Number(process.argv[2] ?? 1000);
const AT_ONCE = 16;
const WATCHED_MS = 10_000;

const steps = { fit: { command: ['true'] } };
const parsed = parsePipeline({ text: JSON.stringify({ version: 1, name: 'bench', steps }), file: 'bench.json' });
const plan = createPlan(parsed.value.pipeline, {}).value;
const home = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const { service: simulated, requests, control } = openSimulated();
const instanceType = { id: 'tiny', clusterID: SCOPE.clusterID, cpu: { cores: 1 }, memory: { sizeGB: 1 } };
const service = { ...simulated, discovery: { ...simulated.discovery, listInstanceTypes: async () => [instanceType] } };

try {
  let left = runs;
  await Promise.all(Array.from({ length: AT_ONCE }, suspendRuns));
  const begun = performance.now();
  const host = await openRunHost({
    ...{ home, isBackground: false, env: {}, log: () => {}, readSecret: () => undefined },
    openService: async () => ({ ok: true, value: { service, close: async () => {} } }),
  });
  const isExecuted = () => {
    const { runs: hosted } = host.status();
    return hosted.length === runs && hosted.every(({ isExecuting }) => isExecuting);
  };
  while (!isExecuted()) await delay(10);
  const resumedMs = performance.now() - begun;
  const before = await requests();
  await delay(WATCHED_MS);
  const after = await requests();
  const perSecond = (name) => Math.round((10_000 * (after[name] - before[name])) / WATCHED_MS) / 10;
  const memory = Math.round(process.memoryUsage().rss / 1e6);
  await control('release');
  await host.close();
  const asked = `${perSecond('get')} queries and ${perSecond('list')} lists per second`;
  console.log(
    `${runs} runs resumed in ${Math.round(resumedMs)} ms, then ${asked}; ${memory} MB; load ${loadavg()[0].toFixed(1)}`,
  );

  async function suspendRuns() {
    while (left > 0) {
      left--;
      const started = await startRun({ plan, service, home, scope: SCOPE, baseDir: home });
      if (!started.ok) throw new Error(started.error.message);
      await moveRun({ home, runId: started.value.runId }, 'detach');
      while ((await requests()).create < runs - left - AT_ONCE) await delay(1);
      await started.value.detach();
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
