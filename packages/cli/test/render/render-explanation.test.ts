import type { StepExplanation } from '@sluice/run';
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
  history: [],
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

test('renderExplanation names the step before it because of which a step was not reused', () => {
  const render = (cache: StepExplanation['cache']) =>
    renderExplanation({ ...FAILED, cache }, { terminal, service: undefined, options: {} });
  const missed = { kind: 'missed', fingerprint: 'f' } as const;
  expect(render({ ...missed, cause: 'rerun', after: 'load' })).toContain(
    '  not reused: step load, which comes before it, was executed in this run\n',
  );
  expect(render({ ...missed, cause: 'rerun' })).toContain(
    'not reused: a rerun was requested, or it is a step of finally',
  );
  expect(render({ ...missed, cause: 'readsShared' })).toContain('reads a volume to which others may write');
  const differences = [{ name: 'after.load', before: 'r0/load/0/1', after: 'r1/load/0/1', from: 'load' }];
  expect(render({ ...missed, cause: 'unknown', nearest: { runId: 'r0', differences } })).toContain(
    '    what comes before the step changed since run r0; see: sluice why -r r1 load\n',
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
