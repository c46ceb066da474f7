import type { RunDetails } from '@sluice/host';
import { expect, test } from 'vitest';
import { compareRuns, linesOf } from '../../src/model/compare-runs.ts';
import { renderCsv } from '../../src/model/render-csv.ts';

function run(values: Partial<RunDetails>): RunDetails {
  return {
    runId: 'a',
    pipeline: 'p',
    status: 'succeeded',
    createdAt: '2026-01-01T00:00:00.000Z',
    startedAt: '2026-01-01T00:00:00.000Z',
    endedAt: '2026-01-01T00:00:02.500Z',
    clusterId: 'local',
    accountId: 'me',
    labels: {},
    params: {},
    outputs: {},
    warnings: [],
    resumes: [],
    failures: [],
    failureCount: 0,
    failureGroups: [],
    failureGroupCount: 0,
    failedCellCount: 0,
    skippedSteps: [],
    plan: { steps: [] },
    steps: [],
    criticalPath: [],
    position: 1,
    ...values,
  };
}

test('compareRuns marks what differs, and has an empty value where a run has none', () => {
  const rows = compareRuns([
    run({ params: { rate: 1, same: 'x' } }),
    run({ params: { rate: 2, same: 'x', more: [1] } }),
  ]);
  expect(rows.filter(({ isDifferent }) => isDifferent)).toEqual([
    { name: 'parameter rate', values: ['1', '2'], isDifferent: true },
    { name: 'parameter more', values: ['', '[1]'], isDifferent: true },
  ]);
  expect(rows).toContainEqual({ name: 'duration (s)', values: ['2.5', '2.5'], isDifferent: false });
});

test('renderCsv quotes what needs it, and marks formulas as text', () => {
  const rows = [{ name: 'parameter a', values: ['say "x", y', '=1+1', '-5'], isDifferent: true }];
  expect(renderCsv(linesOf(rows, ['r1', 'r2', 'r3']))).toBe(
    `value,r1,r2,r3\r\nparameter a,"say ""x"", y",'=1+1,-5\r\n`,
  );
});

test('compareRuns has the durations of steps, and the numbers of cells', () => {
  const step = (name: string) => ({
    step: name,
    kind: 'container',
    dependencies: [],
    level: 0,
    final: false,
    cells: 1,
  });
  const at = (second: number) => new Date(second * 1_000).toISOString();
  const rows = compareRuns([
    run({
      plan: { steps: [step('one'), step('many')] as RunDetails['plan']['steps'] },
      steps: [
        { status: 'succeeded', reused: true, counts: { succeeded: 1 }, beganAt: at(1), endedAt: at(3.25) },
        { status: 'failed', counts: { failed: 1, succeeded: 3 } },
      ],
    }),
  ]);
  expect(rows.filter(({ name }) => name.startsWith('step')).map(({ name, values }) => [name, values[0]])).toEqual([
    ['step one', 'reused'],
    ['step one (s)', '2.3'],
    ['step many', '1 failed, 3 succeeded'],
  ]);
});
