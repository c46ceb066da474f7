import type { RunDetails } from '@sluice/host';
import { expect, test } from 'vitest';
import { findCriticalMarks } from '../../src/model/critical-marks.ts';
import { foldSteps } from '../../src/model/fold-steps.ts';

const STEPS: RunDetails['plan']['steps'] = ['first', 'part-a', 'part-b', 'last'].map((step) => ({
  ...{ step, kind: 'container', dependencies: [], level: 0, final: false, cells: 1 },
  ...(step.startsWith('part') && { group: 'part' }),
}));
const TIMES = { readyAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:00:01Z', waited: 0 };
const DETAILS = {
  plan: { steps: STEPS },
  criticalPath: [
    { step: 'part-b', cell: 'n-2', ...TIMES },
    { step: 'last', cell: '', ...TIMES },
  ],
} as unknown as RunDetails;

test('a folded group is on the critical path with any of its steps', () => {
  expect([...findCriticalMarks(DETAILS, foldSteps(STEPS, new Set())).steps]).toEqual([2, 3]);
  expect([...findCriticalMarks(DETAILS, foldSteps(STEPS, new Set(['part']))).steps]).toEqual([1, 2]);
});

test('one cell of a step is on the critical path', () => {
  const { hasCell } = findCriticalMarks(DETAILS, foldSteps(STEPS, new Set()));
  expect([hasCell('part-b', 'n-2'), hasCell('part-b', 'n-1'), hasCell('last', ''), hasCell('first', '')]).toEqual([
    ...[true, false, true, false],
  ]);
});
