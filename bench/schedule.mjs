// Scheduling alone: no container, no journal. Each graph is run to its end by answering every `submit`, beside a bare
// Kahn over the same arrays in the same process; microseconds are processor time. Run after a build: node --expose-gc bench/schedule.mjs [steps...]
import { createScheduler } from '../packages/run/dist/scheduler/scheduler.js';

const sizes = process.argv.slice(2).map(Number);
const SIZES = sizes.length > 0 ? sizes : [10_000, 100_000, 1_000_000];
const IN_FLIGHT = 64;

const RETRY = {
  limit: 0,
  on: ['infrastructure'],
  backoff: { initialMs: 1000, factor: 2, maxMs: 60_000 },
  escalate: [],
  infrastructure: 2,
};
const NONE = Object.freeze({});
const PLAIN = Object.freeze([Object.freeze({ key: '', matrix: NONE })]);

/** Dependencies of step `i`, per shape. */
const SHAPES = {
  chain: (i) => (i === 0 ? [] : [i - 1]),
  independent: () => [],
  layered: (i, n) => {
    const width = Math.round(Math.sqrt(n));
    if (i < width) return [];
    const row = Math.floor(i / width) * width - width;
    const column = i % width;
    return [...new Set([0, 7, 13].map((shift) => row + ((column + shift) % width)))].sort((a, b) => a - b);
  },
  diamond: (i) => (i === 0 ? [] : i % 4 === 0 ? [i - 1] : i % 4 === 3 ? [i - 2, i - 1] : [i - (i % 4)]),
};

/** A plan as core makes it; `stepOf` adds what a step has beside its name. */
function createPlan(n, dependenciesOf, { stepOf = () => NONE, pipeline = NONE } = {}) {
  const steps = [];
  for (let i = 0; i < n; i++) {
    const step = {
      name: `s${i}`,
      env: NONE,
      secrets: [],
      inputs: NONE,
      outputs: NONE,
      results: NONE,
      needs: [],
      pools: NONE,
      priority: 0,
      retry: RETRY,
      continueOnError: false,
      ports: NONE,
      ...stepOf(i),
    };
    const dependencies = dependenciesOf(i, n).map((on) => ({ on, condition: 'succeeded', data: false }));
    steps.push({ index: i, step, final: false, cells: PLAIN, dependencies });
  }
  return { pipeline: { failFast: true, pools: {}, steps: [], finally: [], ...pipeline }, params: {}, steps };
}

/** Runs the plan to its end; `answers` are the events that follow each submission. */
function run(scheduler, answers) {
  const flight = [];
  let head = 0;
  let submitted = 0;
  let finished = false;
  const commands = [];
  const take = () => {
    for (const command of commands) {
      if (command.type === 'submit') {
        flight.push(command);
        submitted++;
      } else if (command.type === 'finish') finished = true;
    }
    commands.length = 0;
  };
  scheduler.handle({ type: 'started', at: 0 }, commands);
  take();
  while (head < flight.length) {
    const { step, cell, attempt } = flight[head++];
    for (const type of answers) {
      const event =
        type === 'ended'
          ? { type, at: head, step, cell, attempt, outcome: SUCCEEDED }
          : { type, at: head, step, cell, attempt };
      scheduler.handle(event, commands);
    }
    take();
    if (head > 65_536) {
      flight.splice(0, head);
      head = 0;
    }
  }
  if (!finished) throw new Error(`the run did not finish: ${JSON.stringify(scheduler.stuck())}`);
  return submitted;
}

const SUCCEEDED = Object.freeze({ result: 'succeeded' });

/** The floor: compressed rows, a count of open dependencies, a ring of ready steps. */
function kahn(plan) {
  const { steps } = plan;
  const n = steps.length;
  const start = new Int32Array(n + 1);
  const open = new Int32Array(n);
  for (const { index, dependencies } of steps) {
    open[index] = dependencies.length;
    for (const { on } of dependencies) start[on + 1]++;
  }
  for (let i = 0; i < n; i++) start[i + 1] += start[i];
  const to = new Int32Array(start[n]);
  const next = start.slice(0, n);
  for (const { index, dependencies } of steps) for (const { on } of dependencies) to[next[on]++] = index;
  const ring = new Int32Array(n);
  let tail = 0;
  for (let i = 0; i < n; i++) if (open[i] === 0) ring[tail++] = i;
  for (let at = 0; at < tail; at++) {
    const step = ring[at];
    for (let edge = start[step]; edge < start[step + 1]; edge++) if (--open[to[edge]] === 0) ring[tail++] = to[edge];
  }
  return tail;
}

/** Processor time, the garbage collector's threads included: it stays true on a machine that does other work. */
function timed(work) {
  const from = process.cpuUsage();
  const value = work();
  const { user, system } = process.cpuUsage(from);
  return { value, microseconds: user + system };
}

/** Bytes alive. Buffers are given back a turn after they were found dead. */
async function used() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise(setImmediate);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function measure(shape, n) {
  const plan = createPlan(n, SHAPES[shape], { pipeline: { parallelism: IN_FLIGHT } });
  const floor = Math.min(timed(() => kahn(plan)).microseconds, timed(() => kahn(plan)).microseconds);
  const before = await used();
  const build = timed(() => createScheduler(plan));
  const bytes = (await used()) - before;
  const one = timed(() => run(build.value, ['ended']));
  const three = timed(() => run(createScheduler(plan), ['submitted', 'running', 'ended']));
  if (one.value !== n || three.value !== n) throw new Error('not every step was submitted exactly once');
  return {
    graph: shape,
    steps: n,
    'kahn us/step': floor / n,
    'build us/step': build.microseconds / n,
    'run us/step': one.microseconds / n,
    'x kahn': (build.microseconds + one.microseconds) / floor,
    'build+run, 3 events': three.microseconds / n,
    'bytes/step': bytes / n,
  };
}

/** 100,000 ready cells under several limits at once: the cost of each pick. */
function measurePick(ready, limits) {
  const pools = Object.fromEntries(Array.from({ length: limits }, (_, i) => [`p${i}`, 3]));
  const stepOf = (i) => ({
    pools: { [`p${i % limits}`]: 1, [`p${(i * 7 + 1) % limits}`]: 1 + (i % 2) },
    priority: i % 5,
    ...(i % 100 === 0 ? { parallelism: 1 } : {}),
  });
  const plan = createPlan(ready, () => [], { stepOf, pipeline: { pools, parallelism: 1000 } });
  const scheduler = createScheduler(plan);
  const { value, microseconds } = timed(() => run(scheduler, ['ended']));
  return { ready, pools: limits, 'us/pick': microseconds / value };
}

const round = (row) =>
  Object.fromEntries(
    Object.entries(row).map(([key, v]) => [key, typeof v === 'number' ? Math.round(v * 1000) / 1000 : v]),
  );

for (let i = 0; i < 3; i++) await measure('layered', 10_000);
const rows = [];
for (const n of SIZES) for (const shape of Object.keys(SHAPES)) rows.push(round(await measure(shape, n)));
console.table(rows);
for (let i = 0; i < 2; i++) measurePick(10_000, 8);
console.table([8, 64].flatMap((limits) => [10_000, 100_000].map((ready) => round(measurePick(ready, limits)))));
