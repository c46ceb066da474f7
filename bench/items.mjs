/**
 * The effect of `parallelism` of an axis in virtual time: samples go through three stages on a few slots. In `chain` every
 * stage can use all slots; in `pool` the last one has a pool of one slot, so that samples pile up before it. For each limit:
 * the end of the first sample and of the run, and the most samples that were in progress at once, which is what the disk
 * holds. Run after a build: node bench/items.mjs [samples] [slots]
 */
import { createPlan, parsePipeline } from '../packages/core/dist/index.js';
import { createScheduler } from '../packages/run/dist/scheduler/scheduler.js';

const [samples = 100, slots = 4] = process.argv.slice(2).map(Number);
const STAGES = { align: 30, sort: 10, call: 15 };

function planOf(shape, parallelism) {
  const step = (name, from) => ({
    each: 'sample',
    command: [name],
    outputs: [name],
    ...(from && { inputs: { [from]: `${from}.${from}` } }),
    ...(shape === 'pool' && name === 'call' && { pools: { licence: 1 } }),
  });
  const file = {
    version: 1,
    name: 'items',
    parallelism: slots,
    pools: { licence: 1 },
    params: { ids: Array.from({ length: samples }, (_, i) => `S${i}`) },
    axes: { sample: { items: '${{ params.ids }}', ...(parallelism && { parallelism }) } },
    steps: { align: step('align'), sort: step('sort', 'align'), call: step('call', 'sort') },
  };
  const checked = parsePipeline({ file: 'pipeline.json', text: JSON.stringify(file) });
  if (!checked.ok) throw new Error(JSON.stringify(checked.error));
  const plan = createPlan(checked.value.pipeline);
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

/** Containers take the time of their stage, a little more or less by sample, and outputs are published at once. */
function run(plan) {
  const scheduler = createScheduler(plan);
  const live = [];
  const begun = new Set();
  const ended = new Map();
  const result = { first: undefined, end: 0, peak: 0 };
  const handle = (event) => {
    for (const command of scheduler.handle(event)) {
      const { step, cell, attempt } = command;
      if (command.type === 'publish') handle({ type: 'published', at: event.at, step, cell, attempt });
      if (command.type !== 'submit') continue;
      begun.add(cell);
      const takes = STAGES[plan.steps[step].step.name] * (0.8 + ((cell * 7 + step * 3) % 5) / 10);
      live.push({ at: event.at + takes, step, cell, attempt });
      for (const type of ['submitted', 'running']) handle({ type, at: event.at, step, cell, attempt });
    }
  };
  handle({ type: 'started', at: 0 });
  while (live.length > 0) {
    result.peak = Math.max(result.peak, begun.size - [...ended.values()].filter((count) => count === 3).length);
    live.sort((a, b) => a.at - b.at || a.cell - b.cell);
    const { at, step, cell, attempt } = live.shift();
    ended.set(cell, (ended.get(cell) ?? 0) + 1);
    if (ended.get(cell) === 3) result.first ??= at;
    result.end = at;
    handle({ type: 'ended', at, step, cell, attempt, outcome: { result: 'succeeded' } });
  }
  return result;
}

console.log('| shape | limit | first sample after | run ends after | most samples in progress |');
console.log('|---|---|---|---|---|');
for (const shape of ['chain', 'pool']) {
  for (const limit of [undefined, 16, 8, 4]) {
    const { first, end, peak } = run(planOf(shape, limit));
    console.log(`| ${shape} | ${limit ?? 'none'} | ${Math.round(first)} s | ${Math.round(end)} s | ${peak} |`);
  }
}
