import type { RunnerEvent, RunReport, StepExplanation } from '@sluice/runner';
import { expect, test } from 'vitest';
import { renderBlocks, renderValue } from '../../src/json/render-value.ts';
import { createProgress } from '../../src/progress/create-progress.ts';
import { renderExplanation } from '../../src/render/render-explanation.ts';
import { renderReport } from '../../src/render/render-report.ts';
import { renderTable } from '../../src/text/render-table.ts';
import { createRecordingTerminal } from '../recording-terminal.ts';
import { createFailure } from './create-failure.ts';

/** One of each kind: lines, sequences of terminals, C1 controls, and changes of direction. */
const HOSTILE = [
  '\nforged',
  '\r\n',
  '\u2028',
  '\u001b]0;t\u0007',
  '\u001b[2J',
  '\u009b8m',
  '\u0000',
  '\u007f',
  '\u202e',
  '\u2067',
];
const UNSAFE = /[^\n\P{Cc}]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
/** Our own words, which decide what is shown. */
const OURS = new Set(['status', 'type', 'kind', 'cause', 'reason', 'condition', 'direction', 'class', 'runStatus']);

/** Every text and name from outside has the piece in its middle. */
function poison<T>(value: T, piece: string): T {
  const walk = (one: unknown): unknown => {
    if (typeof one === 'string') return one === '' ? '' : `${one.slice(0, 1)}${piece}${one.slice(1)}`;
    if (typeof one !== 'object' || one === null) return one;
    if (Array.isArray(one)) return one.map(walk);
    return Object.fromEntries(Object.entries(one).map(([key, item]) => [key, OURS.has(key) ? item : walk(item)]));
  };
  return walk(value) as T;
}

const EXPLAINED: StepExplanation = {
  ...{ runId: 'r1', pipeline: 'p', runStatus: 'suspended', step: 'fit', cell: 'a', status: 'failed', reason: 'failed' },
  cells: [{ status: 'failed', reason: 'failed', count: 3 }],
  message: 'exit code 3',
  image: { image: 'busybox:1', digest: 'sha256:12' },
  item: { name: 'one' },
  dependencies: [{ step: 'prepare', condition: 'succeeded', status: 'succeeded', reused: true }],
  warnings: [{ at: 1, message: 'the disk is slow' }],
  wait: { startedAt: 1, advice: 'wait for it' } as NonNullable<StepExplanation['wait']>,
  attempts: [
    {
      ...{ attempt: 1, status: 'failed', reason: 'failed', containerId: 'c1', instanceType: 'small' },
      ...{ requestedAt: 0, runningAt: 2_000, endedAt: 5_000, retry: 'not tried again', hint: 'a hint' },
      postponed: { times: 2, cause: 'the service is full' },
      failure: createFailure({ logTail: ['trouble'], logFile: '/home/log', hint: 'look there' }),
    } as StepExplanation['attempts'][number],
  ],
  cache: {
    ...{ kind: 'missed', cause: 'unknown', fingerprint: 'f' },
    nearest: { runId: 'r0', differences: [{ name: 'env.SEED', before: '1', after: '2', from: 'prepare' }] },
  } as StepExplanation['cache'],
  story: [{ at: 1, attempt: 1, message: 'began' }] as unknown as StepExplanation['story'],
};

const REPORT = {
  ...{ runId: 'r1', pipeline: 'p', status: 'failed', startedAt: 1, endedAt: 2, clusterId: 'local', accountId: 'me' },
  steps: [
    {
      name: 'fit',
      status: 'succeeded',
      cells: [{ cell: 'a', status: 'succeeded', attempts: 1, results: { text: 'one' } }],
    },
  ],
  failures: [createFailure({ logTail: ['trouble'], logFile: '/home/log' })],
  outputs: {
    best: {
      ...{ step: 'fit', output: 'best', publishedTo: '/project/results' },
      places: [{ cell: '', clusterId: 'local', accountId: 'me', volumeId: 'ws', path: 'runs/r1/out' }],
    },
  },
  undelivered: { best: 'no space' },
  warnings: [{ at: 1, message: 'the disk is slow' }],
  message: 'it failed',
} as unknown as RunReport;

const EVENTS = [
  {
    type: 'runStarted',
    runId: 'r',
    seq: 1,
    at: 0,
    pipeline: 'p',
    resumed: true,
    steps: [{ name: 'fit', cells: ['a'] }],
  },
  { type: 'containerState', runId: 'r', seq: 2, at: 1, step: 'fit', cell: 'a', phase: 'Pending', message: 'pulling' },
  { type: 'approvalAsked', runId: 'r', seq: 3, at: 1, step: 'fit', message: 'go on?' },
  { type: 'warning', runId: 'r', seq: 4, at: 1, message: 'the disk is slow' },
  {
    type: 'cellChanged',
    runId: 'r',
    seq: 5,
    at: 2,
    step: 'fit',
    cell: 'a',
    status: 'failed',
    attempt: 1,
    message: 'bad',
  },
] as readonly RunnerEvent[];

const terminal = createRecordingTerminal();
const view = { terminal, cwd: '/project', options: {}, service: { phase: 'Pending', message: 'pulling' } };
const RENDERERS: Readonly<Record<string, (piece: string) => string>> = {
  why: (piece) => renderExplanation(poison(EXPLAINED, piece), { ...view, service: poison(view.service, piece) }),
  show: (piece) => renderReport(poison(REPORT, piece), view),
  table: (piece) =>
    renderTable(
      poison(
        [
          ['name', 'value'],
          ['one', 'two'],
        ],
        piece,
      ),
    ),
  run(piece) {
    const shown = createRecordingTerminal();
    const progress = createProgress(shown, {});
    for (const event of EVENTS) progress.report(poison(event, piece));
    progress.close();
    return shown.written().out;
  },
};

test.each(Object.keys(RENDERERS))(
  'sluice %s prints no more lines, and no control characters, for hostile text',
  (name) => {
    const render = RENDERERS[name]!;
    const lines = render('x').split('\n').length;
    expect(lines).toBeGreaterThan(2);
    for (const piece of HOSTILE) {
      const text = render(piece);
      expect(text.split('\n').length, JSON.stringify(piece)).toBeLessThanOrEqual(lines);
      // The terminal removes these from tables; everything else has no line of its own.
      if (name !== 'table') expect(text).not.toMatch(UNSAFE);
    }
  },
);

test('JSON escapes what a terminal would interpret, and has the same value', () => {
  for (const piece of [...HOSTILE, '\u{e0001}', '\ud800']) {
    const [line, blocks] = [
      renderValue('error', { code: piece, message: piece }),
      [...renderBlocks('error', { code: piece, message: piece })].join(''),
    ];
    for (const text of [line, blocks]) {
      expect(text).not.toMatch(UNSAFE);
      expect(JSON.parse(text)).toMatchObject({ code: piece, message: piece });
    }
  }
});
