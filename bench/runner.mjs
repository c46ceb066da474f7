// What the runner itself costs for each step: a service in memory that ends every container at once, the journal on
// a real disk. Prints wall and CPU microseconds a step, and the same for a second run whose steps are all reused.
// `axes`: the steps are the cells of five steps for each item of an axis.
// Usage: node bench/runner.mjs [steps] [independent|chain|layered|axes] [concurrency]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPlan, parsePipeline } from '@sluice/core';
import { startRun } from '@sluice/runner';

const steps = Number(process.argv[2] ?? 10_000);
const shape = process.argv[3] ?? 'layered';
const concurrency = Number(process.argv[4] ?? 8);

const INSTANCE_TYPE = { id: 'x', clusterID: 'c', cpu: { cores: 1 }, memory: { sizeGB: 1 } };

/**
 * Ends each container in the loop turn after its creation. It forgets a container whose end was read, so that the memory is
 * that of the runner.
 */
function createInstantService() {
  // Not a `Map`, nor copies by `...`: what V8 keeps of these would be more than what the runner needs.
  const containers = Object.create(null);
  const listeners = new Set();
  const files = {
    stat: async (path) => ({ path, kind: 'dir', size: 0, modifiedAt: 0 }),
    list: async () => [],
    move: async () => {},
    write: async () => {},
    makeDirectory: async () => {},
    remove: async () => {},
    read: async () => (async function* () {})(),
  };
  return {
    discovery: {
      listAccounts: async () => [{ clusterID: 'c', accountID: 'a' }],
      listInstanceTypes: async () => [INSTANCE_TYPE],
    },
    containers: {
      async create(scope, spec, { containerID: id }) {
        const made = Object.assign(
          { id, phase: 'Creating', createTime: '2026-01-01T00:00:00Z', runID: id },
          spec,
          scope,
        );
        containers[id] = made;
        setImmediate(() => {
          made.phase = 'Succeeded';
          for (const listener of listeners) listener({ ...scope, containerID: id });
        });
        return Object.assign({}, made);
      },
      get: async (ref) => {
        const found = Object.assign({}, containers[ref.id]);
        if (found.phase === 'Succeeded') delete containers[ref.id];
        return found;
      },
      async *list() {},
      async *logs() {},
      cancel: async () => {},
      delete: async () => {},
    },
    volumes: {
      create: async (scope, { volumeID }) => ({
        id: volumeID,
        ...scope,
        phase: 'Available',
        service: { username: 'u', password: 'p', address: {} },
      }),
      async *list(scope) {
        yield { id: [...(this.made ?? [])].at(-1), ...scope, phase: 'Available' };
      },
      delete: async () => {},
      undelete: async () => {},
      files: () => files,
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {},
  };
}

/** The steps that an axis has. */
const STAGES = 5;

function createStages(cached) {
  const stages = Array.from({ length: STAGES }, (_, i) => [
    `s-${i}`,
    {
      ...{ each: 'item', command: ['true'], instanceType: 'x' },
      ...(i > 0 && { needs: [`s-${i - 1}`] }),
      ...(cached && { cache: true }),
    },
  ]);
  return JSON.stringify({
    ...{ version: 1, name: 'bench', parallelism: concurrency, params: { items: [] } },
    axes: { item: { items: '$' + '{{ params.items }}' } },
    steps: Object.fromEntries(stages),
  });
}

function createText(cached) {
  if (shape === 'axes') return createStages(cached);
  const all = {};
  for (let i = 0; i < steps; i++) {
    const needs =
      shape === 'chain' && i > 0
        ? [`s-${i - 1}`]
        : shape === 'layered' && i >= 100
          ? [`s-${i - 100}`, `s-${i - 100 + ((i * 7) % 100) - (i % 100)}`]
          : [];
    all[`s-${i}`] = {
      command: ['true'],
      instanceType: 'x',
      ...(needs.length > 0 && { needs: [...new Set(needs)] }),
      ...(cached && { cache: true }),
    };
  }
  return JSON.stringify({ version: 1, name: 'bench', parallelism: concurrency, steps: all });
}

async function measure(name, plan, home) {
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const service = createInstantService();
  const started = await startRun({ plan, service, home, scope: { clusterID: 'c', accountID: 'a' }, baseDir: home });
  if (!started.ok) throw new Error(started.error.message);
  const report = await started.value.finished;
  const wall = (performance.now() - begun) * 1000;
  const used = process.cpuUsage(cpu);
  const each = (microseconds) => `${(microseconds / steps).toFixed(1)} µs`;
  console.log(
    `${name}: ${report.status}, wall ${each(wall)} a step, CPU ${each(used.user + used.system)} a step, ${(wall / 1e6).toFixed(2)} s in all, peak ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB`,
  );
}

const items = Array.from({ length: Math.ceil(steps / STAGES) }, (_, i) => `i${i}`);
const params = shape === 'axes' ? { items } : {};
for (const cached of [false, true]) {
  const parsed = parsePipeline({ text: createText(cached), file: 'bench.json' });
  if (!parsed.ok) throw new Error(parsed.error[0].message);
  const plan = createPlan(parsed.value.pipeline, { params });
  if (!plan.ok) throw new Error(plan.error[0].message);
  const home = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  await measure(`${steps} ${shape} steps${cached ? ' with cache' : ''}`, plan.value, home);
  if (cached) await measure('the same, all reused', plan.value, home);
  rmSync(home, { recursive: true, force: true });
}
