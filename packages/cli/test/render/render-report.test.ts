import type { CellView, RunReport } from '@sluice/run';
import { expect, test } from 'vitest';
import { renderReport, renderSteps } from '../../src/render/render-report.ts';
import { createRecordingTerminal } from '../recording-terminal.ts';
import { createFailure } from './create-failure.ts';

const terminal = createRecordingTerminal();

function cell(name: string, status: CellView['status'], more: Partial<CellView> = {}): CellView {
  return { cell: name, status, attempt: 1, results: {}, ...more };
}

function report(more: Partial<RunReport>): RunReport {
  const base = {
    runId: 'r1',
    pipeline: 'digits',
    createdAt: 1_000,
    startedAt: 1_000,
    endedAt: 7_600,
    clusterId: 'local',
    accountId: 'local',
  };
  return { ...base, status: 'succeeded', steps: [], failures: [], outputs: {}, ...more };
}

test('renderReport says results, files and the verdict', () => {
  const steps = [
    {
      step: 'fit',
      status: 'succeeded',
      cells: [
        cell('a', 'succeeded', { results: { accuracy: 0.9123456789 } }),
        cell('b', 'succeeded', { reused: true, results: { accuracy: 1 } }),
      ],
    },
    { step: 'select', status: 'succeeded', cells: [cell('', 'succeeded', { results: { model: 'knn-3' } })] },
  ] as const;
  const place = {
    step: 'select',
    output: 'best',
    locations: [{ cell: '', clusterId: 'local', accountId: 'me', volumeId: 'ws', path: 'runs/r1/out' }],
  };
  const outputs = {
    best: { ...place, publishedTo: '/project/results' },
    raw: place,
    far: { ...place, publishedTo: '/elsewhere' },
  };
  expect(renderReport(report({ steps, outputs }), { terminal, cwd: '/project' })).toBe(
    [
      'results',
      '  fit     accuracy  0.912346 to 1 in 2 cells',
      '  select  model     knn-3',
      '',
      'files',
      '  best  results',
      '  raw   ws:runs/r1/out',
      '  far   /elsewhere',
      '',
      'digits succeeded in 6.6 s: 2 succeeded, 1 reused from earlier runs (run r1)',
      '',
    ].join('\n'),
  );
});

test('renderReport says which cells continue when a run is suspended', () => {
  const { endedAt: _endedAt, ...suspended } = report({
    status: 'suspended',
    steps: [
      { step: 'slow', status: 'running', cells: [cell('a', 'running'), cell('b', 'pending'), cell('c', 'waiting')] },
    ],
  });
  expect(renderReport(suspended, { terminal, cwd: '/project' })).toContain(
    'digits suspended: 1 running, 1 pending (run r1)',
  );
});

test('renderReport says where the ports of running cells are', () => {
  const at = (url: string) => ({ http: { url } });
  const steps = [
    { step: 'web', status: 'running', cells: [{ ...cell('', 'running'), ports: at('https://w.example') }] },
    { step: 'shard', status: 'running', cells: [{ ...cell('b', 'running'), ports: at('https://b.example') }] },
  ] as const;
  expect(renderReport(report({ status: 'running', steps }), { terminal, cwd: '/project' })).toContain(
    ['ports', '  web      http  https://w.example', '  shard/b  http  https://b.example', ''].join('\n'),
  );
});

test('renderReport shows the last failure of each cell that did not succeed in the end', () => {
  const steps = [
    { step: 'fit', status: 'failed', cells: [cell('a', 'failed'), cell('b', 'succeeded'), cell('c', 'canceled')] },
  ] as const;
  const failures = [
    createFailure({ message: 'exit code 1' }),
    createFailure({ cell: 'b', message: 'node failure' }),
    createFailure({ attempt: 2, logTail: ['one', 'two'], logFile: '/project/.sluice/log' }),
    createFailure({ cell: 'c', status: 'canceled', message: 'canceled' }),
  ];
  const order = { file: '/project/digits.yaml', params: {} };
  expect(renderReport(report({ status: 'failed', steps, failures, order }), { terminal, cwd: '/project' })).toBe(
    [
      'fit/a attempt 2: exit code 3',
      '  │ one',
      '  │ two',
      '  full log: .sluice/log',
      'next: sluice why -r r1 fit/a, or sluice logs -r r1 fit/a',
      'then: sluice rerun r1 (reuses every successful, unchanged step)',
      '',
      'digits failed in 6.6 s: 1 succeeded, 1 failed, 1 canceled (run r1)',
      '',
    ].join('\n'),
  );
});

test('renderReport lists many failures, bounded, and cannot be led astray by what a container has printed', () => {
  const keys = Array.from({ length: 500 }, (_, i) => `c${i}`);
  const steps = [{ step: 'fit', status: 'failed', cells: keys.map((key) => cell(key, 'failed')) }] as const;
  const logTail = ['\u001b[2J\u001b]0;title\u0007wiped', 'x'.repeat(5_000)];
  const failures = keys.map((key) =>
    createFailure({ cell: key, logTail, message: `exit code 3 of ${key}\u001b[1A`, logFile: `/logs/${key}.log` }),
  );
  const text = renderReport(report({ status: 'failed', steps, failures }), { terminal, cwd: '/' });
  expect(text).toContain(
    '  FAILED   CELLS  ATTEMPT  REASON  WHY\n  fit/c0   1      1        failed  exit code 3 of c0\n',
  );
  expect(text).toContain('  and 480 more\n');
  expect(text).toContain('showing the logs of 3 of 500 reasons; all logs are in logs\nnext: sluice why -r r1 fit/c0');
  expect(text).not.toContain('\u001b');
  expect(text).toContain('  │ wiped\n');
  expect(text.split('\n').length).toBeLessThan(60);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(600);
});

test('renderReport shows cells that failed for the same reason once', () => {
  const keys = ['a', 'b', 'c', 'd'];
  const steps = [{ step: 'fit', status: 'failed', cells: keys.map((key) => cell(key, 'failed')) }] as const;
  const failures = keys.map((key) =>
    createFailure({
      cell: key,
      ...(key === 'c' && { exitCode: 7, message: 'exit code 7' }),
      logTail: [`log of ${key}`],
    }),
  );
  const text = renderReport(report({ status: 'failed', steps, failures }), { terminal, cwd: '/' });
  expect(text).toContain(
    [
      '  FAILED  CELLS  ATTEMPT  REASON  WHY',
      '  fit/a   3      1        failed  exit code 3',
      '  fit/c   1      1        failed  exit code 7',
      '',
      'fit/a and 2 more cells attempt 1: exit code 3',
      '  │ log of a',
      '',
      'fit/c attempt 1: exit code 7',
      '  │ log of c',
      '',
    ].join('\n'),
  );
});

test('renderReport of a suspended run says how to go on', () => {
  const text = renderReport(report({ status: 'suspended', message: 'the disk is full' }), { terminal, cwd: '/' });
  expect(text).toContain('the disk is full\n');
  expect(text).toContain('resume it with: sluice resume r1, or in the background with: sluice detach r1\n');
});

test('renderSteps counts the cells of a step by status', () => {
  const cells = [
    cell('a', 'succeeded', { beganAt: 0, endedAt: 1_000 }),
    cell('b', 'failed', { beganAt: 500, endedAt: 4_000, attempt: 3, reason: 'oom', message: 'exit code 137' }),
  ];
  expect(renderSteps([{ step: 'fit', status: 'failed', cells }], terminal)).toBe(
    'STEP  STATUS                       TOOK   ATTEMPTS  WHY\nfit   1 succeeded, 1 failed (oom)  4.0 s  4         exit code 137\n',
  );
});

test('renderReport repeats what the user was warned of, bounded', () => {
  const warnings = Array.from({ length: 12 }, (_, index) => ({ at: index, message: `cache ${index} is away` }));
  const shown = renderReport(report({ warnings }), { terminal, cwd: '/project' });
  expect(shown).toContain('warning: cache 0 is away\n');
  expect(shown).toContain('warning: cache 9 is away\nand 2 more warnings\n');
});

test('renderReport counts the cells of a suspended run that are between two attempts', () => {
  const steps = [{ step: 'fit', status: 'ready', cells: [cell('', 'ready')] }] as const;
  const suspended = { status: 'suspended', steps } as const;
  expect(renderReport(report(suspended), { terminal, cwd: '/project' })).toContain(
    'digits suspended in 6.6 s: 1 between attempts (run r1)',
  );
  const waiting = [{ ...steps[0], cells: [cell('', 'ready', { attempt: 0 })] }];
  expect(renderReport(report({ ...suspended, steps: waiting }), { terminal, cwd: '/project' })).toContain(
    'digits suspended in 6.6 s: no step has started (run r1)',
  );
});
