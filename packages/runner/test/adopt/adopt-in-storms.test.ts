import { expect, test } from 'vitest';
import { adoptRun } from '../../src/adopt/adopt-run.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { drawDialect } from '../simulation/dialect.ts';
import { CALM, drawFaultRates } from '../simulation/faults.ts';
import { createHandPlan, createStep } from '../simulation/plans.ts';
import { createRandom } from '../simulation/random.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const SEEDS = 60;
/** Set it to see the same storms again. */
const FIRST_SEED = Number(process.env.SLUICE_FIRST_SEED ?? 0);

const need = (step: string) => ({ step, condition: 'succeeded' as const });
const retry = { ...createStep('a').retry, limit: 1, on: ['failed', 'timeout', 'infrastructure'] as const };
const PLAN = createHandPlan(
  [
    createStep('first', { retry }),
    createStep('cells', {
      matrix: { axes: { n: [1, 2, 3] }, include: [], exclude: [] },
      needs: [need('first')],
      retry,
    }),
    createStep('flaky', { needs: [need('first')], retry }),
    createStep('last', { needs: [need('cells')], retry }),
  ],
  { failFast: false },
);

/** Tries again what the storm has turned away. */
async function insist<T>(
  rig: Rig,
  action: () => Promise<{ ok: true; value: T } | { ok: false; error: { code: string } }>,
) {
  for (let tries = 0; ; tries++) {
    const result = await rig.go(action());
    if (result.ok || !result.error.code.startsWith('SERVICE_') || tries > 100) return result;
    await rig.go(rig.clock.delay(10_000));
  }
}

/** An ID that was started again, or an attempt beside or after one that succeeded. */
function findSecondStart(rig: Rig): string | undefined {
  const seen = new Set<string>();
  const endOf = new Map<string, string | undefined>();
  for (const { wire } of rig.created()) {
    if (seen.has(wire.id)) return `${wire.id} was started twice`;
    seen.add(wire.id);
    const cell = wire.id.replace(/-\d+$/, '');
    const before = endOf.get(cell);
    if (endOf.has(cell) && !['Failed', 'Canceled', 'Unknown'].includes(before ?? '')) {
      return `${wire.id} was started although the attempt before it is ${before}`;
    }
    endOf.set(cell, wire.phase);
  }
  return undefined;
}

let adoptions = 0;

async function ride(seed: number): Promise<string | undefined> {
  const random = createRandom(`adopt ${seed}`);
  const faults = { ...drawFaultRates(random.fork('faults')) };
  const rig = createRig(`adopt ${seed}`, {
    dialect: drawDialect(random.fork('dialect')),
    faults,
    hints: random.chance(0.5),
    behave: { flaky: { end: 'Failed', exitCode: 1 }, cells: { runMs: random.pick([100, 20_000]) } },
  });
  const started = await insist(rig, () => startRun({ ...rig.options, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) return undefined;
  const { runId, finished } = started.value;
  const moment = 1 + random.below(7);
  let isOver = false;
  finished.then(
    () => {
      isOver = true;
    },
    () => {},
  );
  await rig.until(() => isOver || rig.created().length >= moment);
  if (isOver) return undefined;
  await rig.go(started.value.detach());
  for (const path of [...rig.disk.files.keys()]) if (path.includes(runId)) rig.disk.files.delete(path);

  const adopted = await insist(rig, () => adoptRun({ ...rig.options, runId, plan: PLAN, baseDir: '/base' }));
  // The service may not show yet, or not any more, what was created.
  if (!adopted.ok) return undefined;
  adoptions++;
  for (let rides = 0; rides < 20; rides++) {
    const resumed = await insist(rig, () => resumeRun({ ...rig.options, runId }));
    if (!resumed.ok) return `seed ${seed}: ${JSON.stringify(resumed.error)}`;
    if (rides > 0) Object.assign(faults, CALM);
    const report = await rig.go(resumed.value.finished);
    const twice = findSecondStart(rig);
    if (twice !== undefined) return `seed ${seed}: ${twice}`;
    if (report.status !== 'suspended') return undefined;
  }
  return `seed ${seed}: it did not end`;
}

test(`an adopted run starts nothing twice, whatever the service is like, for ${SEEDS} seeds`, async () => {
  const bad: string[] = [];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const fault = await ride(seed);
    if (fault !== undefined) bad.push(fault);
  }
  expect(bad.join('\n')).toBe('');
  expect(adoptions).toBeGreaterThan(SEEDS / 2);
});
