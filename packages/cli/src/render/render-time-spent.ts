import { describeTimeSpent, type RunReport } from '@sluice/run';
import type { Terminal } from '../context/terminal.ts';
import { renderTable } from '../text/render-table.ts';

/** Where the time of a run went, followed by an empty line; nothing before its first step could start. */
export function renderTimeSpent({ timeSpent }: RunReport, terminal: Terminal): string {
  if (timeSpent === undefined || timeSpent.totalMs === 0) return '';
  const { total, parts } = describeTimeSpent(timeSpent);
  const rows = parts.map(({ label, duration, percent }) => [`  ${label}`, duration, percent]);
  return `${terminal.style('bold', `time ${total}`)}\n${renderTable(rows)}\n`;
}
