import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScheduleEvent } from '@sluice/home';
import type { RunnerEvent, RunReport, StepExplanation } from '@sluice/run';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { EXIT_CODE } from '../../src/context/exit-code.ts';
import { printWarning } from '../../src/context/print-warning.ts';
import { fromRunError, reject } from '../../src/context/reject.ts';
import { renderBlocks, renderValue } from '../../src/json/render-value.ts';
import { createProgress } from '../../src/render/create-progress.ts';
import { renderExplanation } from '../../src/render/render-explanation.ts';
import { renderReport } from '../../src/render/render-report.ts';
import { renderScheduleEvent } from '../../src/render/render-schedule-event.ts';
import { renderTable } from '../../src/text/render-table.ts';
import { createRecordingTerminal, createTestContext } from '../recording-terminal.ts';
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
  history: [{ at: 1, attempt: 1, message: 'began' }] as unknown as StepExplanation['history'],
};

const REPORT = {
  ...{
    runId: 'r1',
    pipeline: 'p',
    status: 'failed',
    createdAt: 1,
    startedAt: 1,
    endedAt: 2,
    clusterId: 'local',
    accountId: 'me',
  },
  steps: [
    {
      name: 'fit',
      status: 'succeeded',
      cells: [{ cell: 'a', status: 'succeeded', attempt: 1, results: { text: 'one' } }],
    },
  ],
  failures: [createFailure({ logTail: ['trouble'], logFile: '/home/log' })],
  outputs: {
    best: {
      ...{ step: 'fit', output: 'best', publishedTo: '/project/results' },
      locations: [{ cell: '', clusterId: 'local', accountId: 'me', volumeId: 'ws', path: 'runs/r1/out' }],
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
    steps: [{ step: 'fit', cells: ['a'] }],
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
  schedule: (piece) =>
    [{ type: 'scheduleBlocked' }, { type: 'scheduledRunSuspended' }, { type: 'plannedTimeSkipped' }]
      .map(({ type }) => {
        const event = poison({ type, schedule: 'nightly', runId: 'r1', message: 'the disk is full' }, piece);
        return renderScheduleEvent({ ...event, plannedAt: 0 } as unknown as ScheduleEvent, 'UTC');
      })
      .join(''),
  reject(piece) {
    const context = createTestContext({ cwd: '/project' });
    const rejection = { exitCode: EXIT_CODE.rejected, message: 'could not choose one:', lines: ['  one', '  two'] };
    reject(poison(rejection, piece), { context, options: {} });
    const missing = { code: 'SOURCE_MISSING', message: 'the output has no b; it contains c' } as const;
    reject(fromRunError({ ...missing, ...poison({ message: missing.message }, piece) }, { options: {} }), {
      ...{ context, options: {} },
    });
    printWarning(context.terminal, poison('output best: the link a leads out', piece));
    for (const isLive of [false, true]) {
      const progress = createProgress({ ...context.terminal, live: isLive }, {});
      progress.print(poison('it goes on', piece));
      progress.close();
    }
    const { out, err } = context.terminal.written();
    return `${withoutDrawing(out)}${err}`;
  },
};

/** What the display in place prints, without its moves of the cursor. */
function withoutDrawing(out: string): string {
  const start = String.fromCharCode(27);
  return out.replaceAll(new RegExp(`${start}\\[[?0-9]*[A-Za-z]|\\r`, 'g'), '');
}

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

/** Names that begin a line of their own: a command for GitHub, and a line of an assistant's log. */
const FORGED = '::error::forged';

test('sluice pull names hostile files and links on one line', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-hostile-'));
  try {
    const script = `ln -s /etc "$(printf 'x\\n${FORGED}')" && touch "$(printf 'y\\n\\033[8m${FORGED}')"`;
    const text = `version: 1\nname: p\nsteps: { make: { script: ${JSON.stringify(script.replace('ln', 'cd /out && ln'))}, outputs: { made: /out } } }\n`;
    writeFileSync(join(cwd, 'p.yaml'), text);
    const sluice = async (...args: readonly string[]) => {
      const context = createTestContext({ cwd, env: { SLUICE_HOME: join(cwd, 'home') } });
      const exitCode = await runCommandLine(args, context);
      return { exitCode, ...context.terminal.written() };
    };
    expect(await sluice('run', 'p.yaml')).toMatchObject({ exitCode: 0 });
    const pulled = await sluice('pull', 'make.made', '--to', 'copies');
    expect(pulled).toMatchObject({ exitCode: 0, err: expect.stringContaining(`the link x\\x0a${FORGED} -> /etc`) });
    const missing = await sluice('pull', 'make.made/z', '--to', 'others');
    expect(missing).toMatchObject({ exitCode: 2, err: expect.stringContaining(`y\\x0a\\x1b[8m${FORGED}`) });
    for (const { out, err } of [pulled, missing]) {
      expect(`${out}${err}`).not.toMatch(UNSAFE);
      expect(`${out}${err}`).not.toMatch(/^\s*::/m);
    }
  } finally {
    rmSync(cwd, { recursive: true, force: true, maxRetries: 10 });
  }
});

test('an unexpected error prints what it quotes on one line', async () => {
  for (const piece of HOSTILE) {
    const context = createTestContext({ cwd: '/' });
    const out = () => {
      throw new TypeError(`could not read a${piece}${FORGED}`);
    };
    expect(await runCommandLine(['--version'], { ...context, terminal: { ...context.terminal, out } })).toBe(1);
    const lines = context.terminal.written().err.trimEnd().split('\n');
    expect(lines[0]).toBe('sluice: internal error (a bug in Sluice)');
    expect(lines[1]).toMatch(new RegExp(`^TypeError: could not read a.*${FORGED}$`));
    expect(lines.slice(2).every((line) => line.startsWith('    at '))).toBe(true);
    expect(lines.join('')).not.toMatch(UNSAFE);
  }
});
