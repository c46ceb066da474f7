/**
 * Planning pipelines with axes, and matching their cells: time and peak memory, each in a process of its own. `chain` has
 * five steps for each sample, each of which reads the one before; `lookup` has a step for each pair of a table, which
 * reads the cells of two samples by `where`.
 *
 * The last column is the scheduler alone: what it needs for a cell from its release to its end, every container succeeding.
 *
 *   pnpm build && node bench/axes.mjs [items]
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const KINDS = { chain: [1_000, 10_000, 100_000], lookup: [1_000, 10_000, 50_000] };
const [first, kind] = process.argv.slice(2);

if (kind === undefined) {
  console.log(
    `${'pipeline'.padEnd(10)}${'items'.padStart(9)}${'cells'.padStart(9)}${'read ms'.padStart(9)}${'plan ms'.padStart(9)}${'match ms'.padStart(10)}${'CPU ms'.padStart(9)}${'µs/cell'.padStart(9)}${'peak MiB'.padStart(10)}${'schedule µs/cell'.padStart(18)}`,
  );
  for (const [name, counts] of Object.entries(KINDS)) {
    for (const count of first === undefined ? counts : [Number(first)]) {
      const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), String(count), name], {
        encoding: 'utf8',
      });
      process.stdout.write(child.status === 0 ? child.stdout : child.stderr);
    }
  }
} else await measure(Number(first), kind);

async function measure(count, name) {
  const { createPlan, matchOf, parsePipeline } = await import('@sluice/core');
  const text = JSON.stringify(name === 'chain' ? chain() : lookup());
  const tables = JSON.stringify(tablesOf(count, name));
  const used = process.cpuUsage();
  const begin = performance.now();
  const parsed = parsePipeline({ file: 'p.json', text });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error[0]));
  const params = JSON.parse(tables);
  const read = performance.now();
  const planned = createPlan(parsed.value.pipeline, { params });
  if (!planned.ok) throw new Error(JSON.stringify(planned.error[0]));
  const end = performance.now();
  const plan = planned.value;
  for (const step of plan.steps) for (const dependency of step.dependencies) matchOf(plan, step, dependency);
  const matched = performance.now();
  const cpu = process.cpuUsage(used);
  const cpuMs = (cpu.user + cpu.system) / 1000;
  const cells = plan.steps.reduce((sum, step) => sum + step.cells.length, 0);
  const peak = process.resourceUsage().maxRSS / 1024;
  const scheduled = await schedule(plan, cells);
  const columns = [
    [count, 9],
    [cells, 9],
    [(read - begin).toFixed(0), 9],
    [(end - read).toFixed(0), 9],
    [(matched - end).toFixed(0), 10],
    [cpuMs.toFixed(0), 9],
    [((cpuMs * 1000) / cells).toFixed(1), 9],
    [peak.toFixed(0), 10],
    [scheduled.toFixed(1), 18],
  ];
  console.log(name.padEnd(10) + columns.map(([value, width]) => String(value).padStart(width)).join(''));
}

/** Microseconds of processor time for each cell. */
async function schedule(plan, cells) {
  const { createScheduler } = await import('../packages/run/dist/index.js');
  const scheduler = createScheduler(plan, { parallelism: 1000 });
  const used = process.cpuUsage();
  const open = scheduler.handle({ type: 'started', at: 0 });
  let ended = 0;
  for (let next = 0; next < open.length; next++) {
    const { type, step, cell, attempt } = open[next];
    open[next] = undefined;
    if (type === 'finish') break;
    if (type !== 'submit' && type !== 'publish') continue;
    // Not copied by `...at`, which takes longer than the scheduler needs for an event.
    const at = next;
    if (type === 'submit') {
      scheduler.handle({ type: 'submitted', at, step, cell, attempt }, open);
      scheduler.handle({ type: 'running', at, step, cell, attempt }, open);
      scheduler.handle({ type: 'ended', at, step, cell, attempt, outcome: { result: 'succeeded' } }, open);
      ended++;
    } else scheduler.handle({ type: 'published', at, step, cell, attempt }, open);
  }
  if (ended !== cells) throw new Error(`${ended} of ${cells} cells have run`);
  const cpu = process.cpuUsage(used);
  return (cpu.user + cpu.system) / cells;
}

function tablesOf(count, name) {
  const items = Array.from({ length: count }, (_, index) => index);
  const samples = items.map((index) => ({
    id: `S${index}`,
    fastq: `raw/S${index}.fastq.gz`,
    group: `g${index % 100}`,
  }));
  if (name === 'chain') return { samples };
  const pairs = items.map((index) => ({ id: `P${index}`, tumor: `S${index}`, normal: `S${(index * 7) % count}` }));
  return { samples, pairs };
}

function chain() {
  const steps = {};
  for (let stage = 0; stage < 5; stage++) {
    steps[`stage-${stage}`] = {
      each: 'sample',
      command: ['work', '${{ each.sample.fastq }}'],
      inputs: stage === 0 ? {} : { data: `stage-${stage - 1}.out` },
      outputs: ['out'],
    };
  }
  return {
    ...{ version: 1, name: 'bench', params: { samples: { type: 'array' } } },
    axes: { sample: { items: '${{ params.samples }}', key: '${{ item.id }}' } },
    steps,
  };
}

function lookup() {
  const cram = (field) => ({ from: 'cram.out', where: { sample: `\${{ each.pair.${field} }}` } });
  return {
    ...{ version: 1, name: 'bench', params: { samples: { type: 'array' }, pairs: { type: 'array' } } },
    axes: {
      sample: { items: '${{ params.samples }}', key: '${{ item.id }}' },
      pair: { items: '${{ params.pairs }}', key: '${{ item.id }}' },
    },
    steps: {
      cram: { each: 'sample', command: ['work'], outputs: ['out'] },
      call: { each: 'pair', command: ['work'], inputs: { tumor: cram('tumor'), normal: cram('normal') } },
    },
  };
}
