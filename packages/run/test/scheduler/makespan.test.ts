import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createScheduler } from '../../src/scheduler/scheduler.ts';
import { createKeyHeap } from '../../src/scheduler/state/key-heap.ts';
import { type TestStep, testPlan } from './test-plan.ts';

const DATA = fileURLToPath(new URL('../../../../../shared/data/', import.meta.url));
const absent = !existsSync(`${DATA}bounds.csv`) && process.env.CI !== 'true';

/** A recorded run of another system, in the WfCommons format, as far as it is read here. */
interface Trace {
  readonly workflow: {
    readonly specification: { readonly tasks: readonly { readonly id: string; readonly parents: readonly string[] }[] };
    readonly execution: { readonly tasks: readonly { readonly id: string; readonly runtimeInSeconds: number }[] };
  };
}

describe.skipIf(absent)('makespan on recorded runs, in virtual time', () => {
  const rows = absent ? [] : readFileSync(`${DATA}bounds.csv`, 'utf8').trim().split('\n').slice(1);

  test.each(rows.map((row) => row.split(',')))(
    'createScheduler: %s takes no longer than a greedy list schedule',
    (...row) => {
      const trace = readTrace(row[0]!);
      for (const [i, slots] of [4, 16, 64].entries()) {
        const listSchedule = Number(row[5 + 3 * i]);
        // The figures are rounded to a tenth of a second; among equals the two may choose differently.
        expect(makespan(trace, slots)).toBeLessThanOrEqual(listSchedule * 1.0001 + 0.06);
      }
    },
  );

  test('createScheduler: durations known from an earlier run bring it closer to the lower bound', () => {
    const above = { known: 0, unknown: 0, greedy: 0 };
    let count = 0;
    for (const row of rows.map((line) => line.split(','))) {
      const trace = readTrace(row[0]!);
      for (const [i, slots] of [4, 16, 64].entries()) {
        const lowerBound = Number(row[4 + 3 * i]);
        above.greedy += Number(row[5 + 3 * i]) / lowerBound;
        above.known += makespan(trace, slots) / lowerBound;
        above.unknown += makespan(trace, slots, { known: false }) / lowerBound;
        count++;
      }
    }
    if (process.env.SLUICE_SHOW) {
      for (const [name, sum] of Object.entries(above)) console.log(`${name}: ${(sum / count).toFixed(4)} × the bound`);
    }
    expect(above.known).toBeLessThan(above.unknown);
  });
});

function readTrace(name: string): Trace {
  for (const folder of ['wfinstances', 'wfgen']) {
    const file = readdirSync(DATA + folder).find((entry) => entry.startsWith(`${name}.json`));
    if (file === undefined) continue;
    const bytes = readFileSync(`${DATA}${folder}/${file}`);
    return JSON.parse((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')) as Trace;
  }
  throw new Error(`cannot find the trace ${name}`);
}

/** Seconds that the run takes with so many slots, when nothing but its steps takes time. */
function makespan({ workflow }: Trace, slots: number, { known = true } = {}): number {
  const { tasks } = workflow.specification;
  const durations = new Map(workflow.execution.tasks.map(({ id, runtimeInSeconds }) => [id, runtimeInSeconds]));
  const names = new Map(tasks.map(({ id }, i) => [id, `s${i}`]));
  const seconds = tasks.map(({ id }) => durations.get(id) ?? 0);
  const steps = tasks.map(({ parents }, i): [string, TestStep] => [
    `s${i}`,
    { after: parents.map((id) => names.get(id)!) },
  ]);
  const plan = testPlan(Object.fromEntries(steps), { parallelism: slots });
  const durationOf = (name: string) => seconds[Number(name.slice(1))]! * 1000;
  const scheduler = createScheduler(plan, known ? { durations: durationOf } : {});
  const ends = createKeyHeap();
  const ending = new Map<number, number[]>();
  let now = 0;
  const start = (commands: ReturnType<typeof scheduler.handle>) => {
    for (const command of commands) {
      if (command.type !== 'submit') continue;
      const end = now + seconds[command.step]!;
      if (!ending.has(end)) ends.push(end);
      ending.set(end, [...(ending.get(end) ?? []), command.step]);
    }
  };
  start(scheduler.handle({ type: 'started', at: 0 }));
  while (ends.size > 0) {
    now = ends.pop();
    const over = ending.get(now)!;
    ending.delete(now);
    for (const step of over) {
      start(scheduler.handle({ type: 'ended', at: now, step, cell: 0, attempt: 1, outcome: { result: 'succeeded' } }));
    }
  }
  expect(scheduler.isFinished).toBe(true);
  return now;
}
