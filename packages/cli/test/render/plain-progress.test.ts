import type { CellStatus, RunnerEvent } from '@sluice/run';
import { expect, test } from 'vitest';
import { createPlainProgress } from '../../src/render/plain-progress.ts';
import { createRecordingTerminal } from '../recording-terminal.ts';
import { createFailure } from './create-failure.ts';

const RUN = { runId: 'r1', seq: 1 };

function show(steps: { step: string; cells?: string[] }[], events: RunnerEvent[]): string[] {
  const terminal = createRecordingTerminal();
  const progress = createPlainProgress(terminal, { home: 'elsewhere' });
  progress.report({ type: 'runStarted', ...RUN, at: 0, pipeline: 'p', resumed: false, steps });
  for (const event of events) progress.report(event);
  progress.close();
  return terminal.written().out.split('\n').slice(0, -1);
}

function move(
  at: number,
  name: string,
  status: CellStatus,
  more: { attempt?: number; reused?: true; reason?: 'infrastructure'; message?: string } = {},
): RunnerEvent {
  const [step = '', cell = ''] = name.split('/');
  return { type: 'cellChanged', ...RUN, at, step, cell, status, attempt: more.attempt ?? 1, ...more };
}

test('createPlainProgress tells each end once, with its duration and reason', () => {
  const lines = show(
    [
      { step: 'prepare', cells: [''] },
      { step: 'fit', cells: ['a', 'b'] },
      { step: 'report', cells: [''] },
    ],
    [
      move(0, 'prepare', 'ready'),
      move(0, 'prepare', 'submitting'),
      move(100, 'prepare', 'running'),
      move(1500, 'prepare', 'succeeded'),
      move(1500, 'fit/a', 'succeeded', { reused: true }),
      move(1500, 'fit/b', 'submitting'),
      move(4000, 'fit/b', 'failed', { message: 'exit code 3' }),
      move(4000, 'report', 'skipped', { message: 'fit failed' }),
    ],
  );
  expect(lines).toEqual([
    'prepare  succeeded  1.4 s',
    'fit/b    failed     2.5 s  exit code 3',
    'fit      1 reused, 1 failed  2.5 s',
    'report   skipped    fit failed',
  ]);
});

test('createPlainProgress tells a step of many cells in one line, and each cell that goes wrong', () => {
  const cells = Array.from({ length: 100 }, (_, i) => `c${i}`);
  const events = cells.flatMap((cell, i) => [
    move(0, `fit/${cell}`, 'submitting'),
    i === 7
      ? move(500, 'fit/c7', 'failed', { reason: 'infrastructure', message: 'node failure' })
      : move(1000, `fit/${cell}`, 'succeeded'),
  ]);
  expect(show([{ step: 'fit', cells }], events)).toEqual([
    'fit/c7  failed (infrastructure)  0.5 s  node failure',
    'fit  99 succeeded, 1 failed  1.0 s',
  ]);
});

test('createPlainProgress counts the cells of a foreach step from the moment they are known', () => {
  const events: RunnerEvent[] = [
    { type: 'stepExpanded', ...RUN, at: 5, step: 'each', cells: ['x', 'y'] },
    move(10, 'each/x', 'submitting'),
    move(20, 'each/x', 'succeeded'),
    move(10, 'each/y', 'submitting'),
    move(30, 'each/y', 'succeeded'),
  ];
  expect(show([{ step: 'each' }], events)).toEqual([
    'each/x  succeeded  10 ms',
    'each/y  succeeded  20 ms',
    'each  2 succeeded  20 ms',
  ]);
});

test('createPlainProgress tells failed attempts, transfers, questions and warnings', () => {
  const failure = createFailure();
  const transfer = {
    type: 'transfer',
    ...RUN,
    at: 0,
    name: 'raw',
    files: 2,
    totalFiles: 2,
    bytes: 57_512,
    totalBytes: 57_512,
  } as const;
  const lines = show(
    [{ step: 'fit', cells: ['a'] }],
    [
      { ...transfer, direction: 'upload', files: 1, done: false },
      { ...transfer, direction: 'upload', done: true },
      { ...transfer, direction: 'upload', files: 0, bytes: 0, done: true },
      move(1, 'fit/a', 'submitting'),
      { type: 'attemptFailed', ...RUN, at: 1, ...failure },
      move(1, 'fit/a', 'ready'),
      move(2, 'fit/a', 'ready', { attempt: 2 }),
      move(4, 'fit/a', 'running', { attempt: 3 }),
      { type: 'attemptFailed', ...RUN, at: 5, ...failure, message: 'late log', attempt: 2 },
      { type: 'approvalAsked', ...RUN, at: 1, step: 'fit', message: 'go on?' },
      { type: 'warning', ...RUN, at: 1, message: 'the service does not answer' },
    ],
  );
  expect(lines).toEqual([
    'uploaded volume raw: 2 files, 58 kB',
    'fit/a  retry as attempt 2 after: exit code 3',
    'fit/a  retry as attempt 3 after: late log',
    'fit    needs approval: go on?  approve with: sluice approve -r r1 fit --home elsewhere',
    'warning: the service does not answer',
  ]);
});

/** A message about the container of `STEP/CELL` that does not run yet. */
function waits(name: string, message: string, phase = 'Pending'): RunnerEvent {
  const [step = '', cell = ''] = name.split('/');
  return { type: 'containerState', ...RUN, at: 0, step, cell, phase, message };
}

const AWAY = 'the engine is not available, trying again: connect ENOENT /var/run/docker.sock';

test('createPlainProgress tells once per container why it does not start, but not that it waits for its turn', () => {
  const usual = [
    'waiting for capacity',
    'waiting for 4 cores of cluster hpc (0 free)',
    'queued in cluster hpc behind 2 others',
    'queued in Slurm as job 7: Priority',
    'starting',
    'pulling image alpine: 3f2a 12 %',
    'being recorded',
  ];
  const lines = show(
    [{ step: 'fit', cells: ['a', 'b'] }],
    [
      move(0, 'fit/a', 'submitting'),
      waits('fit/a', 'could not create the container: the service replied 503 away', 'Creating'),
      move(0, 'fit/a', 'pending'),
      ...usual.map((message) => waits('fit/a', message)),
      waits('fit/a', AWAY),
      waits('fit/a', 'starting'),
      waits('fit/a', AWAY),
      waits('fit/b', AWAY),
      waits('fit/b', 'waiting for the engine to report it'),
      move(0, 'fit/a', 'submitting', { attempt: 2 }),
      waits('fit/a', AWAY),
    ],
  );
  expect(lines).toEqual([
    'fit/a  not started yet: could not create the container: the service replied 503 away',
    `fit/a  not started yet: ${AWAY}`,
    `fit/b  not started yet: ${AWAY}`,
    'fit/b  not started yet: waiting for the engine to report it',
    `fit/a  not started yet: ${AWAY}`,
  ]);
});

test('createPlainProgress tells once per step of many cells why its containers do not start, and bounds what changes', () => {
  const cells = Array.from({ length: 200 }, (_, i) => `c${i}`);
  const same = cells.map((cell) => waits(`fit/${cell}`, AWAY));
  expect(show([{ step: 'fit', cells }], same)).toEqual([`fit  not started yet: ${AWAY}`]);
  const counting = Array.from({ length: 200 }, (_, i) => waits('one', `trying again in ${i} s`));
  expect(show([{ step: 'one', cells: [''] }], counting)).toHaveLength(10);
});
