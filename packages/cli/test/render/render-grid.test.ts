import type { CellView, RunReport, StepReport } from '@sluice/run';
import { expect, test } from 'vitest';
import { type GridRows, renderGrid } from '../../src/render/render-grid.ts';
import { createRecordingTerminal } from '../recording-terminal.ts';

const STATUSES = { s: 'succeeded', f: 'failed', k: 'skipped', r: 'running', w: 'waiting' } as const;

/** A step with a cell for each letter, named by the axes. */
function createStep(step: string, each: readonly string[], cells: Readonly<Record<string, keyof typeof STATUSES>>) {
  return {
    step,
    status: 'running',
    each,
    cells: Object.entries(cells).map(([name, letter]): CellView => {
      const keys = name.split(',');
      const axes = Object.fromEntries(each.map((axis, index) => [axis, keys[index]!]));
      return { cell: name, axes, status: STATUSES[letter], attempt: 1, results: {} };
    }),
  } as const satisfies StepReport;
}

function render(steps: readonly StepReport[], rows?: GridRows): string {
  const report = { runId: 'r1', pipeline: 'p', steps } as unknown as RunReport;
  return renderGrid(report, { terminal: createRecordingTerminal(), options: rows === undefined ? {} : { rows } });
}

test('renderGrid has a row for each item, first the failed ones, and counts several cells', () => {
  const steps = [
    createStep('align', ['sample'], { S1: 's', S2: 'f', S3: 's' }),
    createStep('sort', ['sample'], { S1: 's', S2: 'k', S3: 'r' }),
    createStep('call', ['sample', 'caller'], { 'S1,b': 's', 'S1,f': 'f', 'S2,b': 'k', 'S2,f': 'k', 'S3,b': 'w' }),
  ];
  expect(render(steps)).toBe(
    [
      'SAMPLE  align      sort       call',
      'S1      succeeded  succeeded  failed 1/2',
      'S2      failed     skipped    skipped 2/2',
      'S3      succeeded  running    waiting',
      '',
      '',
    ].join('\n'),
  );
});

test('renderGrid shows few rows of many, and all on request', () => {
  const names = Array.from({ length: 30 }, (_, index) => `S${index}`);
  const steps = [
    createStep('a', ['s'], Object.fromEntries(names.map((name, index) => [name, index === 29 ? 'f' : 's']))),
    createStep('b', ['s'], Object.fromEntries(names.map((name, index) => [name, index === 28 ? 'r' : 's']))),
  ];
  const few = render(steps).split('\n');
  expect(few[1]).toBe('S29  failed     succeeded');
  expect(few.slice(21)).toEqual([
    '10 more of 30 items of s: 1 running, 9 succeeded',
    'show all with: sluice show r1 --rows all',
    '',
    '',
  ]);
  expect(render(steps, 'all').split('\n').length).toBe(33);
  expect(render(steps, 'failed').split('\n').slice(0, 3)).toEqual([
    'S    a       b',
    'S29  failed  succeeded',
    '29 more of 30 items of s: 1 running, 28 succeeded',
  ]);
  expect(render(steps.slice(1), 'failed')).toBe('30 items of s: 1 running, 29 succeeded\n\n');
});

test('renderGrid names the steps that do not fit', () => {
  const steps = Array.from({ length: 9 }, (_, index) => createStep(`step-${index}`, ['s'], { A: 's' }));
  expect(render(steps)).toContain('steps that do not fit: step-7, step-8\n');
});

test('renderGrid shows nothing for a run without axes', () => {
  expect(render([{ step: 'a', status: 'running', cells: [] }])).toBe('');
});
