import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { Dialect } from '../simulation/dialect.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

/** From four containers on, the list is asked instead of each container. */
const STEPS = 6;
const steps = Array.from({ length: STEPS }, (_, index) => createStep(`s${index}`));
const plan = createHandPlan(steps);
const behave = Object.fromEntries(steps.map(({ name }) => [name, { runMs: 180_000 }]));

async function run(rig: Rig) {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  return rig.go(started.value.finished);
}

const DIALECTS: readonly Partial<Dialect>[] = [
  { times: 'rounded' },
  { times: 'zoneless' },
  { times: 'drifting' },
  { requeues: true },
  { times: 'zoneless', mixedTimes: true, hidesLabels: true },
  { times: 'drifting', hidesLabels: true },
  { requeues: true, hidesLabels: true },
  { times: 'rounded', listsOnlyRunning: true, requeues: true },
  { readLagMs: 200_000 },
  { absentMs: 200_000 },
];

test.each(DIALECTS.flatMap((dialect) => [true, false].map((hints) => ({ dialect, hints }))))(
  'a container of a service with $dialect (hints: $hints) is never started a second time',
  async ({ dialect, hints }) => {
    const rig = createRig('dialect', { dialect, hints, behave });
    // Rounding to seconds goes up from here.
    await rig.go(rig.clock.delay(700));
    const report = await run(rig);
    expect(rig.created().map(({ wire }) => wire.labels?.['sluice-attempt'])).toEqual(steps.map(() => '1'));
    expect(report.status).toBe('succeeded');
  },
);

test.each([
  ['5 minutes', undefined, 300],
  ['what the site says', { lostAfterMs: 90_000 }, 90],
])('a container whose record is gone is lost after %s', async (_, limits, seconds) => {
  const rig = createRig('gone', { behave: { a: { runMs: 10_000, vanishes: true } } });
  const retry = { ...createStep('a').retry, infrastructure: 0 };
  const options = { ...rig.options, plan: createHandPlan([createStep('a', { retry })]), baseDir: '/base' };
  const started = await rig.go(startRun({ ...options, ...(limits && { limits }) }));
  if (!started.ok) throw new Error(started.error.message);
  const { failures } = await rig.go(started.value.finished);
  const message = failures[0]?.message ?? '';
  expect(message).toMatch(/^the container is lost: the service no longer knows it, for \d+ s$/);
  const after = Number(/(\d+) s$/.exec(message)?.[1]);
  expect(after).toBeGreaterThanOrEqual(seconds);
  expect(after).toBeLessThan(seconds + 20);
  const warnings = rig.events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  expect(warnings).toEqual([expect.stringContaining(`does not show for ${seconds} s counts as lost`)]);
});
