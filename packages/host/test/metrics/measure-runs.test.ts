import { renderMetrics } from '@sluice/host-system';
import type { RunnerEvent } from '@sluice/run';
import { beforeEach, expect, test } from 'vitest';
import { measureRuns, type RunMetrics } from '../../src/metrics/measure-runs.ts';

let metrics: RunMetrics;

beforeEach(() => {
  metrics = measureRuns();
});

type Body = { readonly type: RunnerEvent['type'] } & Record<string, unknown>;
const report = (event: Body, at = 0) => metrics.report({ runId: 'r1', seq: 1, at, ...event } as never);
const start = (steps: readonly { readonly step: string; readonly cells?: readonly string[] }[]) =>
  report({ type: 'runStarted', pipeline: 'p', resumed: true, steps });
const change = (status: string, at: number, cell = '') =>
  report({ type: 'cellChanged', step: 'a', cell, status, attempt: 1 }, at);

/** The lines that contain `part`. */
const lines = (part: string) =>
  renderMetrics(metrics.families())
    .split('\n')
    .filter((line) => line.includes(part) && !line.startsWith('#'));
const cells = (status: string) => Number(lines(`sluice_cells{status="${status}"}`)[0]!.split(' ')[1]);
const sums = () => lines('_seconds_sum');

test('counts the cells of the runs that this process executes', () => {
  start([{ step: 'a', cells: ['x', 'y'] }, { step: 'each' }]);
  expect([cells('waiting'), lines('sluice_runs_executing')]).toEqual([3, ['sluice_runs_executing 1']]);
  report({ type: 'stepExpanded', step: 'each', cells: ['1', '2', '3'] });
  change('running', 1000, 'x');
  change('skipped', 1000, 'y');
  expect([cells('waiting'), cells('running'), cells('skipped')]).toEqual([3, 1, 1]);
  report({ type: 'runFinished', report: { status: 'failed' } });
  expect([cells('waiting'), cells('running'), cells('skipped')]).toEqual([0, 0, 0]);
  expect(lines('finished')).toEqual(['sluice_runs_finished_total{status="failed"} 1']);
  expect(lines('sluice_runs_executing')).toEqual(['sluice_runs_executing 0']);
});

test('a run that is left or resumed counts once', () => {
  for (const _ of [1, 2]) start([{ step: 'a' }]);
  expect(cells('waiting')).toBe(1);
  metrics.leave('r1');
  expect([cells('waiting'), lines('sluice_runs_executing')]).toEqual([0, ['sluice_runs_executing 0']]);
  change('running', 1000);
  expect(cells('running')).toBe(0);
});

test('measures waiting, queueing and running of each attempt', () => {
  start([{ step: 'a' }]);
  change('ready', 0);
  change('submitting', 1000);
  change('pending', 2000);
  change('running', 5000);
  change('ready', 9000);
  change('running', 10_000);
  change('publishing', 15_000);
  change('succeeded', 15_500);
  expect(sums()).toEqual([
    'sluice_cell_wait_seconds_sum 3',
    'sluice_cell_queue_seconds_sum 3',
    'sluice_cell_run_seconds_sum 9',
  ]);
  expect(lines('_seconds_count').map((line) => line.split(' ')[1])).toEqual(['2', '2', '2']);
});

test('a period that began before this process, and one that led to nothing, are not measured', () => {
  start([{ step: 'a', cells: ['x', 'y', 'z'] }]);
  change('pending', 1000, 'x');
  change('running', 3000, 'x');
  change('running', 1000, 'y');
  change('succeeded', 3000, 'y');
  change('ready', 1000, 'z');
  change('canceled', 3000, 'z');
  expect(sums()).toEqual([]);
  change('succeeded', 5000, 'x');
  expect(sums()).toEqual(['sluice_cell_run_seconds_sum 2']);
});
