import { dirname } from 'node:path';
import { type Json, own, renderDuration } from '@sluice/core';
import {
  type CellStatus,
  type CellView,
  describeLocations,
  printableData,
  printableLine,
  type RunReport,
  type StepReport,
  tookMs,
} from '@sluice/run';
import type { GlobalOptions } from '../context/command-context.ts';
import { suggestCommand, suggestContinuing } from '../context/suggest-command.ts';
import type { Terminal } from '../context/terminal.ts';
import { renderTable } from '../text/render-table.ts';
import { shortPath } from '../text/short-path.ts';
import { describeSteps, STEP_COLUMNS } from './describe-steps.ts';
import { describeOthers, type FailureGroup, findFailures } from './find-failures.ts';
import { renderStatus } from './render-status.ts';

/** Log lines shown of each failure; the report names the file with the whole log. */
const TAIL_LINES = 20;
const MAX_LINE_LENGTH = 500;
/** Failures listed, and failures whose log is shown. */
const MAX_FAILURES = 20;
const MAX_LOGS = 3;
const MAX_VALUE_LENGTH = 72;
const MAX_WARNINGS = 10;

interface ReportView {
  readonly terminal: Terminal;
  readonly cwd: string;
  /** Global options that suggested commands repeat. */
  readonly options?: GlobalOptions;
  /** The home of the run no longer exists, so that nothing can resume it. */
  readonly isHomeGone?: boolean;
  /** Folds the log of a failure, so that a reader sees only its title at first. Absent: logs are shown in full. */
  readonly fold?: (title: string, log: string) => string;
}

/** The summary of a run: failures with the ends of their logs, results, files, warnings, verdict. */
export function renderReport(given: RunReport, view: ReportView): string {
  const { terminal, cwd, options } = view;
  const report = printableData(given);
  const sections = [
    renderFailures(report, view),
    renderPorts(report.steps, terminal),
    report.results === undefined
      ? renderResults(report.steps, terminal)
      : renderDeclaredResults(report.results, terminal),
    renderFiles(report, { terminal, cwd }),
    renderUnpublished(report, { terminal, options }),
    renderWarnings(report, terminal),
    renderKept(report, { terminal, cwd }),
    renderVerdict(report, view),
  ];
  return sections.filter((section) => section !== '').join('\n');
}

/** Repeats the warnings of the run, because the live display has scrolled away. */
function renderWarnings({ warnings = [] }: RunReport, terminal: Terminal): string {
  const lines = warnings
    .slice(0, MAX_WARNINGS)
    .map(({ message }) => `${terminal.style('yellow', 'warning')}: ${printableLine(message)}\n`);
  const more = warnings.length > MAX_WARNINGS ? `and ${warnings.length - MAX_WARNINGS} more warnings\n` : '';
  return lines.join('') + more;
}

/** `digits succeeded in 6.4 s: 17 containers (run …)`. */
function renderVerdict(report: RunReport, { terminal, options, isHomeGone = false }: ReportView): string {
  const cells = report.steps.flatMap((step) => step.cells);
  const count = (...statuses: CellStatus[]) =>
    cells.filter((cell) => statuses.includes(cell.status) && !cell.reused).length;
  const counts = [
    [count('succeeded'), 'succeeded'],
    [cells.filter(({ reused }) => reused).length, 'reused from earlier runs'],
    [count('failed'), 'failed'],
    [count('skipped'), 'skipped'],
    [count('canceled'), 'canceled'],
    // Of a suspended run, whose containers continue.
    [count('running', 'publishing'), 'running'],
    [count('submitting', 'pending'), 'pending'],
    [cells.filter(({ status, attempt }) => status === 'ready' && attempt > 0).length, 'between attempts'],
  ] as const;
  const parts = counts.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  const took = report.endedAt === undefined ? '' : ` in ${renderDuration(tookMs(report, report.endedAt))}`;
  const message = report.message === undefined ? '' : `${report.message}\n`;
  const isResumable = report.status === 'suspended' && !isHomeGone;
  const resume = isResumable ? `resume it with: ${suggestContinuing(report.runId, options)}\n` : '';
  const verdict = `${terminal.style('bold', report.pipeline)} ${renderStatus({ status: report.status }, { terminal })}${took}`;
  const isOld = cells.length > 0 && cells.every(({ reused }) => reused) && report.order !== undefined;
  const all = isOld ? `run all steps again with: ${suggestCommand(['rerun', report.runId, '--all'], options)}\n` : '';
  return `${message}${verdict}: ${parts.length === 0 ? 'no step has started' : parts.join(', ')} (run ${report.runId})\n${resume}${all}`;
}

/** A table of the failures, the ends of the first logs, and suggested commands. */
function renderFailures(report: RunReport, view: ReportView): string {
  const { terminal, cwd, options } = view;
  const failures = findFailures(report);
  const [first] = failures;
  if (first === undefined) return '';
  const most = view.fold === undefined ? MAX_LOGS : MAX_FAILURES;
  const ends = failures.slice(0, most).map((entry) => renderLog(entry, view));
  const table = failures.length > 1 ? `${renderFailureTable(failures, terminal)}\n` : '';
  const file = failures.find(({ failure }) => failure.logFile !== undefined)?.failure.logFile;
  const place = file === undefined ? '' : `; all logs are in ${shortPath(dirname(file), cwd)}`;
  const shown = failures.length > most ? `showing the logs of ${most} of ${failures.length} reasons${place}\n` : '';
  const [why, logs] = ['why', 'logs'].map((verb) => suggestCommand([verb, '-r', report.runId, first.name], options));
  const hasLog = first.failure.containerId !== undefined || first.failure.logTail.length > 0;
  const next = hasLog ? `next: ${why}, or ${logs}\n` : `next: ${why}\n`;
  const hasDone = report.steps.some(({ cells }) => cells.some(({ status }) => status === 'succeeded'));
  const rerun = suggestCommand(['rerun', report.runId], options);
  const hint = hasDone && report.order ? `then: ${rerun} (reuses every successful, unchanged step)\n` : '';
  return `${table}${ends.join('\n')}${terminal.style('dim', `${shown}${next}${hint}`)}`;
}

function renderFailureTable(failures: readonly FailureGroup[], terminal: Terminal): string {
  const rows = failures
    .slice(0, MAX_FAILURES)
    .map(({ name, cellCount, failure: { attempt, reason = '', message, hint } }) => [
      `  ${name}`,
      String(cellCount),
      String(attempt),
      reason,
      clip(printableLine(hint === undefined ? message : `${message}: ${hint}`)),
    ]);
  const [head, ...lines] = renderTable([['  FAILED', 'CELLS', 'ATTEMPT', 'REASON', 'WHY'], ...rows]).split('\n');
  const more = failures.length > MAX_FAILURES ? `  and ${failures.length - MAX_FAILURES} more\n` : '';
  return `${terminal.style('dim', head ?? '')}\n${lines.join('\n')}${more}`;
}

function renderLog(group: FailureGroup, { terminal, cwd, fold }: ReportView): string {
  const { name, failure } = group;
  const which = `${terminal.style('red', name)}${describeOthers(group)}`;
  const head = `${which} attempt ${failure.attempt}: ${printableLine(failure.message)}`;
  const tail = failure.logTail.slice(-TAIL_LINES);
  const lines = tail.map((line) => `  ${terminal.style('dim', '│')} ${clip(printableLine(line), MAX_LINE_LENGTH)}\n`);
  const file =
    failure.logFile === undefined ? '' : `  ${terminal.style('dim', `full log: ${shortPath(failure.logFile, cwd)}`)}\n`;
  const item = failure.item === undefined ? '' : `  ${terminal.style('dim', 'item:')} ${renderValue(failure.item)}\n`;
  const hint = failure.hint === undefined ? '' : `  hint: ${printableLine(failure.hint)}\n`;
  const text = `${item}${lines.join('')}${hint}${file}`;
  return fold === undefined ? `${head}\n${text}` : fold(head, text);
}

/** Where the containers that run are reachable. */
function renderPorts(steps: readonly StepReport[], terminal: Terminal): string {
  const rows = steps.flatMap(({ step: name, cells }) =>
    cells.flatMap(({ cell, ports = {} }) =>
      Object.entries(ports).map(([port, { url }]) => [`  ${cell === '' ? name : `${name}/${cell}`}`, port, url]),
    ),
  );
  return rows.length === 0 ? '' : `${terminal.style('bold', 'ports')}\n${renderTable(rows)}`;
}

function renderResults(steps: readonly StepReport[], terminal: Terminal): string {
  const rows = steps.flatMap(({ step: name, cells }) => {
    const names = [...new Set(cells.flatMap((cell) => Object.keys(cell.results)))];
    return names.map((result) => [`  ${name}`, result, renderValues(cells, result)]);
  });
  return rows.length === 0 ? '' : `${terminal.style('bold', 'results')}\n${renderTable(rows)}`;
}

/** The value of a plain step; for several cells, the range if all values are numbers. */
function renderValues(cells: readonly CellView[], result: string): string {
  const values = cells.map((cell) => own(cell.results, result)).filter((value): value is Json => value !== undefined);
  const [only] = values;
  if (values.length === 1 && only !== undefined) return renderValue(only);
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === values.length) {
    const range = numbers.reduce(
      (found, value) => [Math.min(found[0]!, value), Math.max(found[1]!, value)],
      [Infinity, -Infinity],
    );
    return `${range.map(renderValue).join(' to ')} in ${values.length} cells`;
  }
  return `${values.length} values`;
}

function renderValue(value: Json): string {
  if (typeof value === 'number') return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)));
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return clip(printableLine(text));
}

function clip(text: string, length = MAX_VALUE_LENGTH): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** The results that the pipeline declares take the place of those of all steps. */
function renderDeclaredResults(results: NonNullable<RunReport['results']>, terminal: Terminal): string {
  const rows = Object.entries(results).map(([name, value]) => [`  ${name}`, renderValue(value)]);
  return rows.length === 0 ? '' : `${terminal.style('bold', 'results')}\n${renderTable(rows)}`;
}

function renderFiles(report: RunReport, { terminal, cwd }: { terminal: Terminal; cwd: string }): string {
  const rows = Object.entries(report.outputs).map(([name, output]) => [
    `  ${name}`,
    output.publishedTo === undefined ? describeLocations(output) : shortPath(output.publishedTo, cwd),
  ]);
  return rows.length === 0 ? '' : `${terminal.style('bold', 'files')}\n${renderTable(rows)}`;
}

/** Outputs that could not be published, and the command that copies them. */
function renderUnpublished(
  report: RunReport,
  { terminal, options }: { terminal: Terminal; options: GlobalOptions | undefined },
): string {
  return Object.entries(report.outputs)
    .filter(([, { notPublished }]) => notPublished !== undefined)
    .map(
      ([name, { notPublished }]) =>
        `${terminal.style('red', notPublished!)}\n  the output is still in its volume; copy it to ./results with: ${suggestCommand(['pull', '-r', report.runId, name], options)}\n`,
    )
    .join('');
}

/** Destinations that still contain the output of an earlier run, because this run did not create it. */
function renderKept(report: RunReport, { terminal, cwd }: { terminal: Terminal; cwd: string }): string {
  return Object.entries(report.staleOutputs ?? {})
    .map(([name, { directory, runId, copiedAt }]) => {
      const place = shortPath(directory, cwd);
      const told = `this run did not create the output ${name}: ${place} still contains the output of run ${runId}, published at ${copiedAt}`;
      return `${terminal.style('yellow', told)}\n`;
    })
    .join('');
}

/** A table with one row per step. */
export function renderSteps(steps: readonly StepReport[], terminal: Terminal): string {
  const [head, ...lines] = renderTable([STEP_COLUMNS, ...describeSteps(steps)]).split('\n');
  return `${terminal.style('dim', head ?? '')}\n${lines.join('\n')}`;
}
