import { renderDuration } from '@sluice/core';
import {
  type AttemptExplanation,
  type CacheExplanation,
  describeImage,
  describeStatus,
  type HistoryLine,
  type InputDifference,
  measureAttempt,
  printableData,
  printableLine,
  type StepExplanation,
} from '@sluice/run';
import type { ContainerStatus } from '../connect/read-container-status.ts';
import type { GlobalOptions } from '../context/command-context.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import type { Terminal } from '../context/terminal.ts';
import { renderTable } from '../text/render-table.ts';
import { renderTimestamp } from '../text/render-timestamp.ts';
import { PIPEFAIL_SHELL } from './describe-shell.ts';
import { renderApproval } from './render-approval.ts';
import { label } from './render-event.ts';
import { renderStatus } from './render-status.ts';

const TAIL_LINES = 10;
const MAX_VALUE_LENGTH = 100;

interface ExplanationView {
  readonly terminal: Terminal;
  readonly service: ContainerStatus | undefined;
  /** Global options that suggested commands repeat. */
  readonly options: GlobalOptions;
}

/** The output of `sluice why`: the answer first, then dependencies, attempts, cache and history. */
export function renderExplanation(given: StepExplanation, view: ExplanationView): string {
  const { terminal } = view;
  const explained = printableData(given);
  const sections = [
    renderAnswer(explained, view),
    explained.approval === undefined ? '' : renderApproval(explained.approval),
    renderDependencies(explained, terminal),
    renderUpstream(explained, terminal),
    renderAttempts(explained, terminal),
    renderCache(explained, view),
    renderHistory(explained.history, terminal),
  ];
  return sections.filter((section) => section !== '').join('\n');
}

function renderAnswer(explained: StepExplanation, { terminal, service, options }: ExplanationView): string {
  const { wait, runStatus, runId } = explained;
  const name = terminal.style('bold', label(explained.step, explained.cell));
  const total = explained.cells.reduce((sum, { count }) => sum + count, 0);
  const others = explained.cells.map((status) => `${status.count} ${describeStatus(status)}`).join(', ');
  const lines = [
    `${name}  ${renderStatus(explained, { terminal })}${explained.message === undefined ? '' : `  ${printableLine(explained.message)}`}`,
    ...renderRootCause(explained),
    ...(explained.item === undefined ? [] : [`item: ${showValue(printableLine(JSON.stringify(explained.item)))}`]),
    ...(explained.image === undefined ? [] : [`image ${printableLine(describeImage(explained.image))}`]),
    ...(total > 1 ? [`one of the ${total} cells of ${explained.step}: ${others}`] : []),
    ...(explained.pipefail ? [`shell: ${PIPEFAIL_SHELL}`] : []),
    ...(service ? renderService(service) : []),
    ...(explained.warnings ?? []).map(
      ({ message }) => `${terminal.style('yellow', 'warning')}: ${printableLine(message)}`,
    ),
    ...(wait ? [`since ${renderTimestamp(wait.startedAt)}${wait.advice === undefined ? '' : `; ${wait.advice}`}`] : []),
    ...(runStatus === 'suspended'
      ? [`no process is running run ${runId}; resume it with: ${suggestCommand(['resume', runId], options)}`]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function renderService({ phase, message, problem }: ContainerStatus): string[] {
  if (problem !== undefined) return [`could not read the container's status: ${printableLine(problem)}`];
  if (message === phase.toLowerCase()) return [];
  return [`service status: ${printableLine(phase)}${message === '' ? '' : `, ${printableLine(message)}`}`];
}

function renderDependencies({ dependencies }: StepExplanation, terminal: Terminal): string {
  if (dependencies.length === 0) return '';
  const hasInputs = dependencies.some(({ input }) => input !== undefined);
  const rows = dependencies.map(({ step, cell, cellCount, input, condition, ...status }) => [
    `  ${cell === undefined ? step : `${step}/${cell}`}${cellCount === undefined ? '' : ` (${cellCount} cells)`}`,
    ...(hasInputs ? [input === undefined ? '' : `input ${input}`] : []),
    condition === 'succeeded' ? '' : `condition: ${condition}`,
    describeStatus(status),
  ]);
  return `${terminal.style('bold', 'needs')}\n${renderTable(rows)}`;
}

/** What the cell comes from, if that is more than what it needs itself. */
function renderUpstream({ dependencies, upstream = [] }: StepExplanation, terminal: Terminal): string {
  if (upstream.length <= dependencies.length) return '';
  const rows = upstream.map(({ step, cell = '', cellCount, ...status }) => [
    `  ${label(step, cell)}${cellCount === undefined ? '' : ` (${cellCount} cells)`}`,
    describeStatus(status),
  ]);
  return `${terminal.style('bold', 'upstream')}\n${renderTable(rows)}`;
}

function renderRootCause({ rootCause }: StepExplanation): string[] {
  if (rootCause === undefined) return [];
  const { step, cell, message, ...status } = rootCause;
  const why = message === undefined ? '' : `: ${printableLine(message)}`;
  return [`root cause: ${label(step, cell)} ${describeStatus(status)}${why}`];
}

function renderAttempts({ attempts }: StepExplanation, terminal: Terminal): string {
  if (attempts.length === 0) return '';
  return `${terminal.style('bold', 'attempts')}\n${attempts.map((attempt) => renderAttempt(attempt, terminal)).join('')}`;
}

function renderAttempt(attempt: AttemptExplanation, terminal: Terminal): string {
  const { failure, postponed } = attempt;
  const { ranMs, queuedMs } = measureAttempt(attempt);
  const head = [
    `  ${attempt.attempt}`,
    failure === undefined ? attempt.status : printableLine(failure.message),
    ...(ranMs === undefined ? [] : [`ran ${renderDuration(ranMs)}`]),
    ...(queuedMs === undefined ? [] : [`queued for ${renderDuration(queuedMs)}`]),
    ...(attempt.instanceType === undefined ? [] : [`on ${attempt.instanceType}`]),
    ...(attempt.containerId === undefined ? [] : [`container ${attempt.containerId}`]),
  ].join('  ');
  const tail = (failure?.logTail ?? []).slice(-TAIL_LINES);
  const lines = [
    ...(postponed ? [`postponed ${postponed.times} times; last reason: ${postponed.cause}`] : []),
    ...(attempt.retry === undefined ? [] : [attempt.retry]),
    ...(failure?.hint === undefined ? [] : [`hint: ${printableLine(failure.hint)}`]),
    ...tail.map((line) => `${terminal.style('dim', '│')} ${printableLine(line)}`),
    ...(failure?.logFile === undefined ? [] : [terminal.style('dim', `full log: ${failure.logFile}`)]),
  ];
  return `${head}\n${lines.map((line) => `     ${line}\n`).join('')}`;
}

const MISSES = {
  unknown: 'not reused: no earlier run did the same work',
  expired: 'not reused: the earlier run that did the same work is older than maxAge',
  dataGone: 'not reused: the outputs of the earlier run that did the same work no longer exist',
  dataChanged: 'not reused: a container changed the outputs of the earlier run that did the same work',
  writesShared: 'not reused: the step writes to a shared volume, and a reused step writes nothing',
  removed: 'computed again: its temporary outputs were removed, and a cell that runs mounts them',
  secret: 'not reused: one of its results contains the value of a secret of this run',
  readsShared: 'not reused: the step reads a volume to which others may write',
  rerun: 'not reused: a rerun was requested, or it is a step of finally',
} as const;

function renderCache({ cache, cell, step, runId }: StepExplanation, { terminal, options }: ExplanationView): string {
  const see = (from: string) => suggestCommand(['why', '-r', runId, from], options);
  const words = describeCache(cache, { name: label(step, cell), see });
  return words.length === 0 ? '' : `${terminal.style('bold', 'cache')}\n${words.map((line) => `  ${line}\n`).join('')}`;
}

function describeCache(
  cache: CacheExplanation,
  { name, see }: { name: string; see: (step: string) => string },
): string[] {
  switch (cache.kind) {
    case 'off':
      return ['off: the step does not set cache: true'];
    case 'noLookup':
      return [];
    case 'hit':
      return [`reused from run ${cache.runId}, which did the same work`];
    case 'missed': {
      const first =
        cache.after === undefined
          ? MISSES[cache.cause]
          : `not reused: step ${cache.after}, which comes before it, was executed in this run`;
      if (cache.problem !== undefined) return [first, cache.problem];
      if (!cache.nearest) return [first, `no run of this home has finished ${name}`];
      const { runId, differences } = cache.nearest;
      if (differences.length === 0) return [first, `the work is the same as in run ${runId}`];
      return [
        `${first}; compared with run ${runId}:`,
        ...differences.map((one) => describeDifference(one, { runId, see })),
      ];
    }
  }
}

function describeDifference(
  { name, before, after, from }: InputDifference,
  { runId, see }: { runId: string; see: (step: string) => string },
): string {
  const source = from === undefined ? '' : `; see: ${see(from)}`;
  if (name === 'version')
    return '  the version of fingerprints changed: after an update of Sluice, each step runs once more';
  if (before === undefined) return `  ${name} is new: ${showValue(after)}${source}`;
  if (after === undefined) return `  ${name} was removed; it was ${showValue(before)}${source}`;
  if (name.startsWith('inputs.') && !name.endsWith('.path'))
    return `  the content of ${name} changed since run ${runId}${source}`;
  if (name.startsWith('after.')) return `  what comes before the step changed since run ${runId}${source}`;
  return `  ${name} is ${showValue(after)}; it was ${showValue(before)}`;
}

/** A fingerprint contains only the hash of a long value. */
function showValue(value = ''): string {
  if (value.startsWith('#')) return `a long value (${value.slice(0, 9)})`;
  const text = printableLine(value);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH - 1)}…` : text;
}

function renderHistory(history: readonly HistoryLine[], terminal: Terminal): string {
  const [first] = history;
  if (first === undefined) return '';
  const rows = history.map((line) => [
    `  ${renderTimestamp(line.at)}`,
    `+${renderDuration(line.at - first.at)}`,
    line.attempt === 0 ? '' : `#${line.attempt}`,
    describeMove(line),
    [line.cause === undefined ? '' : CAUSES[line.cause], line.message === undefined ? '' : printableLine(line.message)]
      .filter((text) => text !== '')
      .join(': '),
  ]);
  return `${terminal.style('bold', 'history')}\n${renderTable(rows)}`;
}

function describeMove({ status, reused, reason }: HistoryLine): string {
  if (status === undefined) return '';
  return describeStatus({ status, ...(reused && { reused }), ...(reason !== undefined && { reason }) });
}

const CAUSES: Readonly<Record<NonNullable<HistoryLine['cause']>, string>> = {
  released: 'dependencies satisfied',
  skipped: 'skipped',
  evaluationFailed: 'could not evaluate its expressions',
  approved: 'approval answered',
  cacheHit: 'found in the cache',
  cacheMissed: 'not found in the cache',
  picked: 'next to start',
  submitted: 'accepted by the service',
  postponed: 'postponed',
  running: 'started',
  serviceReady: 'readiness check passed',
  ended: 'ended',
  published: 'outputs published',
  due: 'waiting time over',
  stopped: 'stopped',
};
