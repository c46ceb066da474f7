import { renderDuration } from '@sluice/core';
import { printableLine, type RunnerEvent } from '@sluice/run';
import type { GlobalOptions } from '../context/command-context.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import type { Terminal } from '../context/terminal.ts';
import { widthOf } from '../text/clip-line.ts';
import { fitColumn } from '../text/shorten.ts';
import {
  type CellTransition,
  type ContainerState,
  countFinished,
  countOf,
  isFinished,
  type ProgressModel,
  type StepProgress,
  type Transfer,
} from './progress-model.ts';
import { renderStatus, shownStatus } from './render-status.ts';

/** Steps with more cells than this are shown as one line, plus the cells that fail. */
const MAX_CELL_LINES = 24;
const STATUS_WIDTH = 9;
/**
 * How services begin the message about a container that is only queued, or waits for capacity or its image, by the words
 * of our service; others have shorter ones.
 */
const USUAL_WAIT =
  /^(waiting for (?!the engine)|(queued|pulling|starting|being (created|recorded)|pending|scheduled|(container ?)?creating)\b)/i;
const MOST_LABEL_COLUMNS = 48;

/** Applies the event to the model and returns permanent lines for it, with their newlines; `''` if it deserves none. */
export function renderEvent(
  event: RunnerEvent,
  {
    model,
    terminal,
    labelWidth,
    options,
  }: { model: ProgressModel; terminal: Terminal; labelWidth: number; options: GlobalOptions },
): string {
  const transition = model.apply(event);
  switch (event.type) {
    case 'cellChanged':
      return transition === undefined ? '' : renderTransition(transition, { terminal, labelWidth });
    case 'attemptFailed': {
      const { step, cell, attempt, message } = event;
      const now = model.cellOf(step, cell);
      // The last attempt is reported with the end of the cell. Other attempts are reported with their successor, once
      // it is known.
      if (now === undefined || isFinished(now.status) || now.attempt <= attempt) return '';
      return renderRetry({ name: label(step, cell), attempt: attempt + 1, message }, labelWidth);
    }
    case 'containerState':
      return renderContainerState(event, { model, terminal, labelWidth });
    case 'transfer':
      return event.done && event.files > 0 ? `${renderTransfer(event)}\n` : '';
    case 'approvalAsked': {
      const name = label(event.step, event.cell ?? '');
      const command = suggestCommand(['approve', '-r', model.runId, name], options);
      return `${fitLabel(name, labelWidth)}  needs approval: ${printableLine(event.message)}  approve with: ${command}\n`;
    }
    case 'warning':
      return `${terminal.style('yellow', 'warning')}: ${printableLine(event.message)}\n`;
    default:
      return '';
  }
}

/** `STEP/CELL`, or `STEP` for the cell of a plain step, whose key is empty. */
export function label(step: string, cell: string): string {
  return cell === '' ? step : `${step}/${cell}`;
}

/** The width of the label column: at most 48, and at most half of `columns`. */
export function labelWidthOf(
  steps: readonly { step: string; cells?: readonly string[] }[],
  columns = Number.POSITIVE_INFINITY,
): number {
  const lengths = steps.flatMap(({ step, cells }) => {
    const keys = cells !== undefined && cells.length <= MAX_CELL_LINES ? cells : [''];
    return keys.map((key) => label(step, key).length);
  });
  return Math.min(
    MOST_LABEL_COLUMNS,
    Math.max(8, Math.floor(columns / 2) - 2),
    lengths.reduce((widest, length) => Math.max(widest, length), 0),
  );
}

/**
 * Cells that were unknown when the width was chosen may have longer names, which are shown in full up to the maximum.
 */
function fitLabel(name: string, labelWidth: number): string {
  return fitColumn(name, Math.max(labelWidth, Math.min(MOST_LABEL_COLUMNS, widthOf(name))));
}

/**
 * The address of a port, and without a live display also why a container does not start, unless it is only
 * queued.
 */
function renderContainerState(
  event: ContainerState,
  { model, terminal, labelWidth }: { model: ProgressModel; terminal: Terminal; labelWidth: number },
): string {
  const { step, cell, phase, message } = event;
  if (phase === 'Running') return `${fitLabel(label(step, cell), labelWidth)}  ${printableLine(message)}\n`;
  if (terminal.live || USUAL_WAIT.test(message)) return '';
  const byCell = (model.steps.get(step)?.cells ?? 0) <= MAX_CELL_LINES;
  if (!model.isNews(event, { byCell })) return '';
  return `${fitLabel(byCell ? label(step, cell) : step, labelWidth)}  not started yet: ${printableLine(message)}\n`;
}

function renderRetry(retry: { name: string; attempt: number; message: string }, labelWidth: number): string {
  return `${fitLabel(retry.name, labelWidth)}  retry as attempt ${retry.attempt} after: ${printableLine(retry.message)}\n`;
}

function renderTransition(transition: CellTransition, options: { terminal: Terminal; labelWidth: number }): string {
  const { step } = transition;
  if (transition.failedBefore !== undefined) {
    const retry = {
      name: label(step.name, transition.cell),
      attempt: transition.attempt,
      message: transition.failedBefore,
    };
    return renderRetry(retry, options.labelWidth);
  }
  if (!isFinished(shownStatus(transition.result))) return '';
  const plain = step.cells === 1 && transition.cell === '';
  const few = (step.cells ?? 0) <= MAX_CELL_LINES && transition.result.reused !== true;
  const alone = plain || few || transition.result.status === 'failed';
  const own = alone ? renderCell(transition, options) : '';
  return !plain && transition.stepFinished ? `${own}${renderStep(step, options)}` : own;
}

function renderCell(
  transition: CellTransition,
  { terminal, labelWidth }: { terminal: Terminal; labelWidth: number },
): string {
  const detail =
    transition.tookMs !== undefined && transition.result.reused !== true
      ? `  ${renderDuration(transition.tookMs)}`
      : '';
  const message =
    transition.message === undefined || transition.result.status === 'succeeded'
      ? ''
      : `  ${printableLine(transition.message)}`;
  const name = fitLabel(label(transition.step.name, transition.cell), labelWidth);
  return `${`${name}  ${renderStatus(transition.result, { terminal, width: STATUS_WIDTH })}${detail}${message}`.trimEnd()}\n`;
}

/** `fit  12 cells: 10 succeeded, 2 reused  4.1 s`. */
function renderStep(step: StepProgress, { terminal, labelWidth }: { terminal: Terminal; labelWidth: number }): string {
  const parts = [...step.counts].filter(([status, count]) => count > 0 && isFinished(status));
  const words = parts.map(([status, count]) => `${count} ${status}`).join(', ');
  const cells = countFinished(step);
  const took =
    step.startedAt === undefined || step.endedAt === undefined || countOf(step, 'reused') === cells
      ? ''
      : `  ${renderDuration(step.endedAt - step.startedAt)}`;
  return `${terminal.style('bold', fitLabel(step.name, labelWidth))}  ${words}${took}\n`;
}

function renderTransfer(event: Transfer): string {
  const what = `${event.files} file${event.files === 1 ? '' : 's'}, ${renderBytes(event.bytes)}`;
  if (event.direction === 'across') return `copied ${event.name} to another cluster: ${what}`;
  return event.direction === 'upload' ? `uploaded volume ${event.name}: ${what}` : `downloaded ${event.name}: ${what}`;
}

/** Describes a transfer in progress. Its size is unknown while its files are still being hashed. */
export function renderActiveTransfer({ direction, name, files, totalFiles, bytes, totalBytes }: Transfer): string {
  const doing = { upload: `uploading volume ${name}`, download: `downloading ${name}`, across: `copying ${name}` };
  if (totalFiles === 0) return direction === 'upload' ? `reading volume ${name}` : doing[direction];
  const counted = totalFiles > 1 ? `, ${files} of ${totalFiles} files` : '';
  return `${doing[direction]}: ${renderBytes(bytes)} of ${renderBytes(totalBytes)}${counted}`;
}

/** Rounded, in decimal units: `950 B`, `4.2 MB`, `17 GB`. */
export function renderBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = -1;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
