import { explainStep } from '@sluice/home';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type RigOptions } from '../simulation/rig.ts';

const CELLS = 40;
const MATRIX = { axes: { n: Array.from({ length: CELLS }, (_, n) => n) }, include: [], exclude: [] };
const PLAN = createHandPlan([createStep('crowd', { matrix: MATRIX })]);
const MINUTES = 60_000;

async function run(given: RigOptions) {
  const rig = createRig('list dialects', { hints: false, ...given });
  const started = await rig.go(startRun({ ...rig.options, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const report = await rig.go(started.value.finished);
  const { calls } = rig.simulated;
  const requests = (calls.get('get') ?? 0) + (calls.get('list') ?? 0);
  return { rig, report, requests, took: report.endedAt! - report.startedAt! };
}

describe('a service whose list shows only what is Running', () => {
  test('is asked little more for containers that wait long than one that lists them', async () => {
    const behave = { crowd: { pendingMs: 20 * MINUTES, runMs: 5 * MINUTES } };
    const usual = await run({ behave });
    const { report, requests } = await run({ behave, dialect: { listsOnlyRunning: true } });
    expect(report.status).toBe('succeeded');
    expect(requests).toBeLessThan(2 * usual.requests);
  });
});

describe.each([500, 403, 'loops'] as const)('a service whose list never works (%s)', (list) => {
  test('tells of each container by itself, at a bounded pace, and the report says so once', async () => {
    const behave = { crowd: { runMs: 10 * MINUTES } };
    const usual = await run({ behave });
    const { report, requests, took, rig } = await run({ behave, dialect: { list } });
    expect(report.status).toBe('succeeded');
    expect(report.warnings).toEqual([
      {
        at: expect.any(Number),
        message: expect.stringContaining('could not list the containers of sim/me'),
        concerns: 'service',
      },
    ]);
    expect(rig.events.filter(({ type }) => type === 'warning')).toHaveLength(1);
    const why = await explainStep({ home: '/home', runId: report.runId, step: 'crowd', disk: rig.disk });
    expect(why).toMatchObject({ value: { warnings: report.warnings } });
    expect(took).toBeLessThan(1.1 * usual.took);
    // Forty containers, at most every 10 s once they have run for long: a list asks once instead.
    expect(requests).toBeLessThan(2 * CELLS * usual.requests);
  });
});
