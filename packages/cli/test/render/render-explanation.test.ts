import type { StepExplanation } from '@sluice/runner';
import { expect, test } from 'vitest';
import { renderExplanation } from '../../src/render/render-explanation.ts';
import { createRecordingTerminal } from '../recording-terminal.ts';
import { createFailure } from './create-failure.ts';

const terminal = createRecordingTerminal();

const FAILED: StepExplanation = {
  runId: 'r1',
  pipeline: 'p',
  runStatus: 'failed',
  step: 'fit',
  cell: 'a',
  status: 'failed',
  reason: 'failed',
  cells: [
    { status: 'succeeded', count: 2 },
    { status: 'failed', reason: 'failed', count: 1 },
  ],
  message: 'exit code 3',
  dependencies: [{ step: 'prepare', condition: 'succeeded', status: 'succeeded', reused: true }],
  attempts: [
    {
      attempt: 1,
      status: 'failed',
      reason: 'failed',
      containerId: 'c1',
      instanceType: 'small',
      requestedAt: 0,
      runningAt: 2_000,
      endedAt: 5_000,
      retry: 'not tried again: the step has no retry',
      failure: createFailure({ logTail: ['\u001b[31mtrouble\u001b[0m'], logFile: '/home/log' }),
    },
  ],
  cache: {
    kind: 'missed',
    cause: 'unknown',
    fingerprint: 'f',
    nearest: {
      runId: 'r0',
      differences: [
        { name: 'env.SEED', before: '1', after: '2' },
        { name: 'inputs.data', before: 'x', after: 'y', from: 'prepare' },
      ],
    },
  },
  story: [],
};

test('renderExplanation answers first, and shows attempts, logs without escapes, and what has changed', () => {
  expect(renderExplanation(FAILED, { terminal, service: undefined, options: {} })).toBe(
    [
      'fit/a  failed  exit code 3',
      'one of the 3 cells of fit: 2 succeeded, 1 failed',
      '',
      'needs',
      '  prepare    reused',
      '',
      'attempts',
      '  1  exit code 3  ran 3.0 s  queued for 2.0 s  on small  container c1',
      '     not tried again: the step has no retry',
      '     │ trouble',
      '     full log: /home/log',
      '',
      'cache',
      '  not reused: no earlier run did the same work; compared with run r0:',
      '    env.SEED is 2; it was 1',
      '    the content of inputs.data changed since run r0; see: sluice why -r r1 prepare',
      '',
    ].join('\n'),
  );
});

test('renderExplanation of a step that waits shows since when, what to do, and the container status', () => {
  const { reason: _, ...failed } = FAILED;
  const waits: StepExplanation = {
    ...failed,
    runStatus: 'suspended',
    status: 'ready',
    message: 'waits for pool gpu',
    attempts: [],
    wait: {
      ...{ kind: 'pool', pool: 'gpu', used: 2, size: 2, needed: 1 },
      message: 'waits for pool gpu',
      startedAt: 0,
      advice: 'do this',
    },
  };
  const text = renderExplanation(waits, {
    terminal,
    service: { phase: 'Pending', message: 'pulling' },
    options: { home: '/a b' },
  });
  expect(text).toMatch(/^fit\/a {2}ready {2}waits for pool gpu\n/);
  expect(text).toContain('service status: Pending, pulling\n');
  expect(text).toMatch(/since .*; do this\n/);
  expect(text).toContain("no process is running run r1; resume it with: sluice resume r1 --home '/a b'\n");
});

test('renderExplanation repeats the warnings of the run, and reports why the container status is missing', () => {
  const warned = { ...FAILED, warnings: [{ at: 0, message: 'the service reports the phase "Warming"' }] };
  const problem = 'could not get container c1: nodeID: expected string';
  const text = renderExplanation(warned, { terminal, service: { phase: '', message: '', problem }, options: {} });
  expect(text).toContain('\nwarning: the service reports the phase "Warming"\n');
  expect(text).toContain(`\ncould not read the container's status: ${problem}\n`);
});
