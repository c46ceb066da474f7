import type { AttemptReport } from '../schemas/attempt.ts';
import { ranFor } from './attempt-report.ts';
import { printableLine } from './printable-line.ts';

type Cell = string | number | undefined;

const COLUMNS: Readonly<Record<string, (attempt: AttemptReport, now: number) => Cell>> = {
  step: ({ step }) => step,
  cell: ({ cell }) => cell,
  attempt: ({ attempt }) => attempt,
  status: ({ status }) => status,
  reason: ({ reason }) => reason,
  exitCode: ({ exitCode }) => exitCode,
  message: ({ message }) => message,
  cancelReason: ({ cancelReason }) => cancelReason,
  clusterId: ({ clusterId }) => clusterId,
  instanceType: ({ instanceType }) => instanceType,
  containerId: ({ containerId }) => containerId,
  readyAt: ({ readyAt }) => renderTime(readyAt),
  requestedAt: ({ requestedAt }) => renderTime(requestedAt),
  submittedAt: ({ submittedAt }) => renderTime(submittedAt),
  runningAt: ({ runningAt }) => renderTime(runningAt),
  endedAt: ({ endedAt }) => renderTime(endedAt),
  publishedAt: ({ publishedAt }) => renderTime(publishedAt),
  waitedSeconds: ({ readyAt, runningAt }) =>
    readyAt === undefined || runningAt === undefined ? undefined : (runningAt - readyAt) / 1000,
  ranSeconds: (attempt, now) => ranFor(attempt, now) / 1000,
  postponed: ({ postponed }) => postponed,
  logFile: ({ logFile }) => logFile,
  axes: ({ axes }) => (axes === undefined ? undefined : JSON.stringify(axes)),
  matrix: ({ matrix }) => (matrix === undefined ? undefined : JSON.stringify(matrix)),
  item: ({ item }) => (item === undefined || typeof item === 'string' ? item : JSON.stringify(item)),
};

/** A header and one line per attempt, by RFC 4180. Text that a spreadsheet would interpret as a formula begins with `'`. */
export function* renderAttemptsCsv(attempts: readonly AttemptReport[], now: number): Generator<string> {
  const columns = Object.values(COLUMNS);
  yield `${Object.keys(COLUMNS).join(',')}\r\n`;
  for (const attempt of attempts) yield `${columns.map((column) => quote(column(attempt, now))).join(',')}\r\n`;
}

function renderTime(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
}

function quote(value: Cell): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value);
  const plain = value.split('\n').map(printableLine).join('\n');
  const safe = /^[=+\-@]/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
