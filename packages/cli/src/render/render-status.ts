import { type CellStatus, describeStatus, type RunPhase, type StatusReport } from '@sluice/run';
import type { Terminal, TextStyle } from '../context/terminal.ts';

/** The status of a cell as people read it: a reused cell is distinguished from one that ran. */
export type ShownStatus = CellStatus | 'reused';

/** How people read a status. */
export function shownStatus({ status, reused }: StatusReport): ShownStatus {
  return reused === true ? 'reused' : status;
}

const STYLES: Readonly<Record<ShownStatus | RunPhase, TextStyle>> = {
  waiting: 'dim',
  ready: 'dim',
  submitting: 'cyan',
  pending: 'cyan',
  running: 'cyan',
  publishing: 'cyan',
  awaitingApproval: 'yellow',
  succeeded: 'green',
  reused: 'green',
  failed: 'red',
  canceled: 'yellow',
  skipped: 'dim',
  suspended: 'yellow',
};

/** The status of a cell, a step or a run in its color, padded to `width`. */
export function renderStatus(
  shown: StatusReport | { readonly status: RunPhase },
  { terminal, width = 0 }: { terminal: Terminal; width?: number },
): string {
  if (shown.status === 'suspended') return terminal.style(STYLES.suspended, shown.status.padEnd(width));
  const report: StatusReport = { ...shown, status: shown.status };
  return terminal.style(STYLES[shownStatus(report)], describeStatus(report).padEnd(width));
}
