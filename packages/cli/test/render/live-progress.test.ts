import type { CellStatus, RunnerEvent } from '@sluice/run';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLiveProgress } from '../../src/render/live-progress.ts';
import { createRecordingTerminal } from '../recording-terminal.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000 });
});

afterEach(() => {
  vi.useRealTimers();
});

const RUN = { runId: 'r1', seq: 1 };

function move(step: string, cell: string, status: CellStatus): RunnerEvent {
  return { type: 'cellChanged', ...RUN, at: Date.now(), step, cell, status, attempt: 1 };
}

/** What a terminal shows after the text: escape sequences for moving up, clearing and carriage return are obeyed. */
function screen(text: string): string[] {
  const lines: string[] = [''];
  let row = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  for (const part of text.split(/(\u001b\[\??\d*[A-Za-z]|\n|\r)/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    const up = /^\u001b\[(\d+)A$/.exec(part);
    if (up !== null) row -= Number(up[1]);
    else if (part === '\u001b[2K') lines[row] = '';
    else if (part === '\u001b[1B') row += 1;
    else if (part === '\n') {
      row += 1;
      lines[row] ??= '';
    } else if (!part.startsWith('\u001b') && part !== '\r') lines[row] = `${lines[row] ?? ''}${part}`;
  }
  return lines.join('\n').trimEnd().split('\n');
}

test('createLiveProgress draws what is under way in place, below the lines that stay', () => {
  const terminal = createRecordingTerminal({ live: true });
  const progress = createLiveProgress(terminal, {});
  const steps = [
    { step: 'prepare', cells: [''] },
    { step: 'fit', cells: ['a', 'b', 'c', 'd'] },
  ];
  progress.report({ type: 'runStarted', ...RUN, at: Date.now(), pipeline: 'p', resumed: false, steps });
  progress.report(move('prepare', '', 'submitting'));
  progress.report(move('prepare', '', 'running'));
  vi.advanceTimersByTime(1_000);
  expect(screen(terminal.written().out)).toEqual(['prepare  running    1.0 s', '0/5 done, 1 in progress · 1.0 s']);

  progress.report(move('prepare', '', 'succeeded'));
  for (const cell of ['a', 'b']) progress.report(move('fit', cell, 'submitting'));
  progress.report(move('fit', 'a', 'running'));
  progress.report(move('fit', 'a', 'succeeded'));
  progress.report(move('fit', 'b', 'running'));
  vi.advanceTimersByTime(500);
  expect(screen(terminal.written().out)).toEqual([
    'prepare  succeeded  1.0 s',
    'fit/a    succeeded  0 ms',
    `fit      ${'━'.repeat(4)}${'·'.repeat(12)}  1/4 cells, 1 running  0.5 s`,
    '2/5 done, 1 in progress · 1.5 s',
  ]);

  progress.close();
  expect(screen(terminal.written().out)).toEqual(['prepare  succeeded  1.0 s', 'fit/a    succeeded  0 ms']);
});

test('createLiveProgress tells how far a transfer is, before the run has begun, too', () => {
  const terminal = createRecordingTerminal({ live: true });
  const progress = createLiveProgress(terminal, {});
  const transfer = { type: 'transfer', ...RUN, at: 1_000, direction: 'upload', name: 'src', done: false } as const;
  progress.report({ ...transfer, files: 0, totalFiles: 0, bytes: 0, totalBytes: 0 });
  vi.advanceTimersByTime(100);
  expect(screen(terminal.written().out)).toEqual(['reading volume src']);
  progress.report({ ...transfer, files: 1, totalFiles: 3, bytes: 2e6, totalBytes: 5e6 });
  vi.advanceTimersByTime(100);
  expect(screen(terminal.written().out)).toEqual(['uploading volume src: 2.0 MB of 5.0 MB, 1 of 3 files']);
  progress.report({ ...transfer, files: 3, totalFiles: 3, bytes: 5e6, totalBytes: 5e6, done: true });
  vi.advanceTimersByTime(100);
  expect(screen(terminal.written().out)).toEqual(['uploaded volume src: 3 files, 5.0 MB']);
  progress.close();
});

test('createLiveProgress draws at most ten times a second, however much happens', () => {
  const terminal = createRecordingTerminal({ live: true });
  const progress = createLiveProgress(terminal, {});
  const cells = Array.from({ length: 5_000 }, (_, i) => `c${i}`);
  progress.report({
    type: 'runStarted',
    ...RUN,
    at: Date.now(),
    pipeline: 'p',
    resumed: false,
    steps: [{ step: 'fit', cells }],
  });
  for (const cell of cells) {
    progress.report(move('fit', cell, 'submitting'));
    progress.report(move('fit', cell, 'succeeded'));
  }
  expect(terminal.written().out).toBe('');
  vi.advanceTimersByTime(100);
  expect(terminal.written().out.length).toBeLessThan(1_000);
  progress.close();
});

test('createLiveProgress shows why a container does not start beside its step, not in a line that stays', () => {
  const terminal = createRecordingTerminal({ live: true });
  const progress = createLiveProgress(terminal, {});
  const steps = [{ step: 'fit', cells: [''] }];
  progress.report({ type: 'runStarted', ...RUN, at: Date.now(), pipeline: 'p', resumed: false, steps });
  progress.report(move('fit', '', 'pending'));
  const state = { type: 'containerState', ...RUN, at: 0, step: 'fit', cell: '', phase: 'Pending' } as const;
  progress.report({ ...state, message: 'the engine is not available' });
  vi.advanceTimersByTime(100);
  expect(screen(terminal.written().out)[0]).toMatch(/^fit +pending +the engine is not available$/);
  progress.close();
  expect(screen(terminal.written().out)).toEqual(['']);
});
