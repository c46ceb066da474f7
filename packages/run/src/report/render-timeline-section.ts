import { renderDuration } from '@sluice/core';
import type { AttemptReport } from '../schemas/attempt.ts';
import type { DetailedReport } from '../schemas/run-report.ts';
import { beganAt, ranFor } from './attempt-report.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { runBeganAt } from './run-times.ts';

/** The most rows: one per cell; with more cells one per step; with more steps, the cells that ran longest. */
const MAX_ROWS = 250;
/** The most attempts in one row. */
const MAX_BARS = 40;

interface Row {
  readonly name: string;
  readonly critical: boolean;
  readonly attempts: readonly AttemptReport[];
}

/** The waiting and running times of attempts as bars on a time axis. */
export function renderTimelineSection(report: DetailedReport): Markup {
  const critical = new Set(report.criticalPath.map(({ step, cell }) => nameOf(step, cell)));
  const cells = countCells(report.attempts);
  const steps = groupBy(report.attempts, ({ step }) => step);
  // With too many steps as well, the longest cells are more informative than some of the steps.
  const byCell = cells <= MAX_ROWS || steps.size > MAX_ROWS;
  const groups = byCell ? groupBy(report.attempts, ({ step, cell }) => nameOf(step, cell)) : steps;
  const all = [...groups].map(([name, attempts]) => ({ name, attempts, critical: critical.has(name) }));
  if (all.length === 0) return NOTHING;
  const end = report.endedAt ?? report.madeAt;
  const shown = chooseRows(all, end);
  const start = runBeganAt(report);
  const span = { from: start, to: Math.max(end, start + 1) };
  const notes = [
    ...(byCell ? [] : [`one row per step, since there are ${cells} cells`]),
    ...(shown.length < all.length ? [`the ${shown.length} longest of ${all.length} are shown`] : []),
  ];
  const note = notes.length === 0 ? NOTHING : markup`<p class="soft">${notes.join('; ')}</p>`;
  return markup`<h2>Timeline</h2>${note}<p class="legend"><i style="background:var(--wait);opacity:.55"></i>waits for capacity or a retry<i style="background:var(--wait)"></i>waits at the service<i style="background:var(--good)"></i>runs; outlined: on the critical path</p><div class="scroll"><div class="gantt">${renderAxis(span)}${shown.map((row) => renderRow(row, span, byCell))}</div></div>`;
}

function nameOf(step: string, cell: string): string {
  return cell === '' ? step : `${step}/${cell}`;
}

/** The attempts of a cell follow each other. */
function countCells(attempts: readonly AttemptReport[]): number {
  const isNew = ({ step, cell }: AttemptReport, before: AttemptReport | undefined) =>
    before?.step !== step || before.cell !== cell;
  return attempts.reduce((count, attempt, index) => count + Number(isNew(attempt, attempts[index - 1])), 0);
}

function groupBy(attempts: readonly AttemptReport[], key: (attempt: AttemptReport) => string) {
  const groups = new Map<string, AttemptReport[]>();
  for (const attempt of attempts) {
    const name = key(attempt);
    const group = groups.get(name);
    if (group) group.push(attempt);
    else groups.set(name, [attempt]);
  }
  return groups;
}

function chooseRows(rows: readonly Row[], now: number): Row[] {
  const ran = ({ attempts }: Row) => attempts.reduce((sum, attempt) => sum + ranFor(attempt, now), 0);
  const longest = rows.length <= MAX_ROWS ? rows : [...rows].sort((a, b) => ran(b) - ran(a)).slice(0, MAX_ROWS);
  const beginning = ({ attempts: [first] }: Row) => first?.readyAt ?? first?.requestedAt ?? now;
  return [...longest].sort((a, b) => beginning(a) - beginning(b));
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function renderAxis(span: Span): Markup {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (part) => markup`<span style="left:${part * 100}%">${renderDuration((span.to - span.from) * part)}</span>`,
  );
  return markup`<div class="row axis"><div class="name"></div><div class="track">${ticks}</div></div>`;
}

function renderRow({ name, attempts, critical }: Row, span: Span, byCell: boolean): Markup {
  const bars = byCell
    ? attempts.slice(0, MAX_BARS).flatMap((attempt) => renderAttempt(attempt, span, critical))
    : [renderWhole(attempts, span)];
  return markup`<div class="row"><div class="name" title="${name}">${name}</div><div class="track">${bars}</div></div>`;
}

function renderAttempt(attempt: AttemptReport, span: Span, critical: boolean): Markup[] {
  const { readyAt, requestedAt, endedAt } = attempt;
  const begun = beganAt(attempt);
  const words = attempt.message ?? attempt.status;
  const title = `attempt ${attempt.attempt}: ${words}, ran ${renderDuration(ranFor(attempt, span.to))}`;
  return [
    renderBar('wait', { from: readyAt, to: requestedAt ?? endedAt, title: 'waits for capacity or a retry' }, span),
    renderBar('queue', { from: requestedAt, to: begun ?? endedAt ?? span.to, title: 'waits at the service' }, span),
    renderBar(
      `ran ${attempt.status}${critical ? ' critical' : ''}`,
      { from: begun, to: endedAt ?? span.to, title },
      span,
    ),
  ];
}

/** All attempts of a step as one bar, from the first start to the last end; the share of failed ones is red. */
function renderWhole(attempts: readonly AttemptReport[], span: Span): Markup {
  let [from, to, failed] = [span.to, span.from, 0];
  for (const attempt of attempts) {
    const { endedAt, status } = attempt;
    from = Math.min(from, beganAt(attempt) ?? from);
    to = Math.max(to, endedAt ?? span.to);
    if (status === 'failed') failed += 1;
  }
  const title = `${attempts.length} attempts${failed > 0 ? `, ${failed} failed` : ''}`;
  const fine = Math.round((100 * (attempts.length - failed)) / attempts.length);
  const style = `background:linear-gradient(90deg,var(--good) ${fine}%,var(--bad) ${fine}%)`;
  return renderBar('ran', { from, to, title, style }, span);
}

function renderBar(
  kind: string,
  { from, to, title, style = '' }: { from: number | undefined; to: number | undefined; title: string; style?: string },
  span: Span,
): Markup {
  if (from === undefined || to === undefined || to < from) return NOTHING;
  const part = (at: number) => Math.round(((at - span.from) / (span.to - span.from)) * 10_000) / 100;
  return markup`<i class="${kind}" style="left:${part(from)}%;width:${part(to) - part(from)}%;${style}" title="${title}"></i>`;
}
