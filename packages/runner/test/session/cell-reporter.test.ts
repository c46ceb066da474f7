import type { RunnerEvent } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const CELLS = 2_500;
const MATRIX = { axes: { n: Array.from({ length: CELLS }, (_, n) => n) }, include: [], exclude: [] };
const PLAN = createHandPlan([createStep('crowd', { matrix: MATRIX })]);

test('createCellReporter reports thousands of cells in parts, and all of them before the end of the run', async () => {
  const rig = createRig('parts', { behave: { crowd: { runMs: 3_600_000 } } });
  const { clock } = rig;
  let turn = 0;
  const events: (RunnerEvent & { readonly turn: number })[] = [];
  const defer = (callback: () => void) => {
    clock.defer(() => {
      turn++;
      callback();
      turn++;
    });
  };
  const reporter = { report: (event: RunnerEvent) => void events.push({ ...event, turn }) };
  const options = { ...rig.options, clock: { ...clock, defer }, reporter, parallelism: 1 };
  const started = await rig.go(startRun({ ...options, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const changed = () => events.filter((event) => event.type === 'cellChanged');
  await rig.until(() => changed().length >= CELLS);
  const perTurn = new Map<number, number>();
  for (const event of changed()) perTurn.set(event.turn, (perTurn.get(event.turn) ?? 0) + 1);
  expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(1_000);
  started.value.cancel('a test');
  expect((await rig.go(started.value.finished)).status).toBe('canceled');
  expect(events.at(-1)?.type).toBe('runFinished');
  const last = new Map(changed().map(({ cell, status }) => [cell, status]));
  expect(last.size).toBe(CELLS);
  expect(new Set(last.values())).toEqual(new Set(['canceled']));
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
});
