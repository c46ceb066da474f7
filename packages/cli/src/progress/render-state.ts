import type { CellState, RunPhase } from '@sluice/runner';
import type { Terminal, TextStyle } from '../context/terminal.ts';

const STYLES: Readonly<Record<CellState | RunPhase, TextStyle>> = {
  waiting: 'dim',
  ready: 'dim',
  checking: 'dim',
  submitting: 'cyan',
  pending: 'cyan',
  running: 'cyan',
  publishing: 'cyan',
  backingOff: 'yellow',
  awaitingApproval: 'yellow',
  succeeded: 'green',
  failed: 'red',
  errored: 'red',
  timedOut: 'red',
  canceled: 'yellow',
  skipped: 'dim',
  cached: 'green',
  active: 'cyan',
  suspended: 'yellow',
};

const WORDS: Partial<Record<CellState | RunPhase, string>> = {
  checking: 'ready',
  backingOff: 'waiting to retry',
  awaitingApproval: 'awaiting approval',
  timedOut: 'timed out',
};

/** The name of a state in messages, without color. */
export function describeState(state: CellState | RunPhase): string {
  return WORDS[state] ?? state;
}

/** The name of a state in its color, padded to `width`. */
export function renderState(
  state: CellState | RunPhase,
  { terminal, width = 0 }: { terminal: Terminal; width?: number },
): string {
  return terminal.style(STYLES[state], describeState(state).padEnd(width));
}
