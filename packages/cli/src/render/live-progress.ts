import { renderDuration } from '@sluice/core';
import { createSystemClock } from '@sluice/home';
import { printableLine } from '@sluice/run';
import type { GlobalOptions } from '../context/command-context.ts';
import { type Terminal, withoutControls } from '../context/terminal.ts';
import { clipLine, widthOf } from '../text/clip-line.ts';
import { onOneLine } from '../text/on-one-line.ts';
import { fitColumn } from '../text/shorten.ts';
import type { Progress } from './plain-progress.ts';
import {
  activeStatus,
  countFinished,
  countOf,
  createProgressModel,
  type ProgressModel,
  type StepProgress,
} from './progress-model.ts';
import { labelWidthOf, renderActiveTransfer, renderEvent } from './render-event.ts';
import { renderStatus } from './render-status.ts';

/** The shortest time between two redraws, whatever the number of events. */
const REDRAW_MS = 100;
/** Lines of active steps; more are counted in the last line. */
const MAX_ACTIVE_LINES = 12;
const BAR_WIDTH = 16;
/** Narrower terminals show no bars. */
const BAR_COLUMNS = 60;
const STATUS_WIDTH = 9;

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
// Prevents a line from becoming two, whatever width the terminal gives to its characters.
const NO_WRAP = '\x1b[?7l';
const WRAP = '\x1b[?7h';
const CLEAR_BELOW = '\x1b[0J';
const CLEAR_LINE_AND_DOWN = '\x1b[2K\x1b[1B';

/** Prints past events as permanent lines, and redraws the current state below them in place. */
export function createLiveProgress(terminal: Terminal, options: GlobalOptions): Progress {
  const { now } = createSystemClock();
  const model = createProgressModel();
  let labelWidth = 0;
  let permanent = '';
  /** Widths of the lines that are drawn now. */
  let drawnWidths: number[] = [];
  let lastColumns = terminal.size().columns;
  let finished = false;
  /** Difference between the clock of a resumed run and that of this process. */
  let clockOffset = 0;

  const draw = () => {
    const { columns } = terminal.size();
    // The last column stays empty: some terminals start a new line after writing there.
    const below = finished
      ? []
      : renderActive(model, { terminal, labelWidth, now: now() + clockOffset }).map((line) =>
          clipLine(line, columns - 1),
        );
    // A terminal that became narrower has wrapped the old lines.
    const rows = drawnWidths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    const up = rows > 0 ? `\x1b[${rows}A\r` : '\r';
    // Cleared line by line: some terminals keep a copy of a screen that is cleared as a whole.
    const clear = `${up}${CLEAR_LINE_AND_DOWN.repeat(rows)}${columns === lastColumns ? '' : CLEAR_BELOW}${up}`;
    const region = withoutControls(below.map((line) => `${line}\n`).join(''));
    terminal.raw(`${HIDE_CURSOR}${clear}${withoutControls(permanent)}${NO_WRAP}${region}${WRAP}${SHOW_CURSOR}`);
    drawnWidths = below.map(widthOf);
    lastColumns = columns;
    permanent = '';
  };
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  const show = (text: string) => {
    permanent += `${text}\n`;
    draw();
  };
  terminal.divert(show);

  return {
    report: (event) => {
      if (event.type === 'runStarted') {
        labelWidth = labelWidthOf(event.steps, terminal.size().columns);
        clockOffset = event.resumed ? event.at - now() : 0;
      }
      permanent += renderEvent(event, { model, terminal, labelWidth, options });
    },
    print: (text) => show(onOneLine(text)),
    close: () => {
      terminal.divert(undefined);
      clearInterval(timer);
      finished = true;
      draw();
    },
  };
}

/** The redrawn lines: active steps, transfers, then the totals. */
function renderActive(
  model: ProgressModel,
  { terminal, labelWidth, now }: { terminal: Terminal; labelWidth: number; now: number },
): string[] {
  const transfers = [...model.transfers.values()].map(renderActiveTransfer);
  if (model.startedAt === 0) return transfers;
  const active = [...model.steps.values()].filter((step) => activeStatus(step) !== undefined);
  const most = Math.max(1, Math.min(MAX_ACTIVE_LINES, terminal.size().rows - 3));
  const shown = active.slice(0, most).map((step) => renderActiveStep(step, { terminal, labelWidth, now }));
  const more = active.length > most ? `, ${active.length - most} more steps` : '';
  return [
    ...shown,
    ...transfers,
    terminal.style('dim', `${renderTotals(model)}${more} · ${renderDuration(now - model.startedAt)}`),
  ];
}

function renderActiveStep(
  step: StepProgress,
  { terminal, labelWidth, now }: { terminal: Terminal; labelWidth: number; now: number },
): string {
  const name = fitColumn(step.name, labelWidth);
  const took = step.startedAt === undefined ? '' : renderDuration(now - step.startedAt);
  if (step.cells === 1) {
    const status = activeStatus(step) ?? 'waiting';
    const note = status !== 'running' && step.note !== undefined ? `  ${printableLine(step.note)}` : '';
    return `${name}  ${renderStatus({ status }, { terminal, width: STATUS_WIDTH })}  ${took}${note}`.trimEnd();
  }
  const [over, running, total] = [countFinished(step), countOf(step, 'running', 'publishing'), step.cells ?? 0];
  const full = total === 0 ? 0 : Math.round((BAR_WIDTH * over) / total);
  // Without colors, only another character can show the rest.
  const rest = (terminal.color ? '━' : '·').repeat(BAR_WIDTH - full);
  const drawing = `${terminal.style('green', '━'.repeat(full))}${terminal.style('dim', rest)}`;
  const note = running === 0 && step.note !== undefined ? `  ${printableLine(step.note)}` : '';
  const bar = terminal.size().columns < BAR_COLUMNS ? '' : `${drawing}  `;
  return `${name}  ${bar}${over}/${total} cells, ${running} running  ${took}${note}`.trimEnd();
}

function renderTotals(model: ProgressModel): string {
  let [over, running, total] = [0, 0, 0];
  for (const step of model.steps.values()) {
    over += countFinished(step);
    running += countOf(step, 'submitting', 'pending', 'running', 'publishing');
    total += step.cells ?? 1;
  }
  return `${over}/${total} done, ${running} in progress`;
}
