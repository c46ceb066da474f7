import { renderDuration } from '@sluice/core';
import type { AttemptReport } from '../schemas/attempt.ts';
import type { FailureReport } from '../schemas/failure.ts';
import type { DetailedReport, StepReport } from '../schemas/run-report.ts';
import { describeLocations } from './describe-locations.ts';
import { describeStatus } from './describe-status.ts';
import { describeImage } from './list-images.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { runBeganAt } from './run-times.ts';
import { statusClass } from './status-class.ts';

const MAX_STEPS = 500;
const MAX_FAILURES = 40;
const MAX_LOG_LINES = 30;
const MAX_LINE_LENGTH = 400;
const MAX_VALUE_LENGTH = 300;
const MAX_PATH = 60;
const MAX_NAMES = 20;

/** The chain of cells that determines the duration of the run. */
export function renderCriticalPath({ criticalPath }: DetailedReport): Markup {
  if (criticalPath.length < 2) return NOTHING;
  const shown = criticalPath.slice(-MAX_PATH);
  const rows = shown.map(
    ({ step, cell, readyAt, endedAt, waitedMs }) =>
      markup`<tr><td>${cell === '' ? step : `${step}/${cell}`}</td><td class="number">${renderDuration(endedAt - readyAt)}</td><td class="number">${renderDuration(waitedMs)}</td></tr>`,
  );
  const note =
    shown.length < criticalPath.length
      ? markup`<p class="soft">the last ${shown.length} of ${criticalPath.length}</p>`
      : NOTHING;
  return markup`<h2>Critical path</h2>${note}<div class="scroll"><table><tr><th>cell</th><th class="number">took</th><th class="number">of it waiting</th></tr>${rows}</table></div>`;
}

/** The warnings of the run. */
export function renderWarnings(report: DetailedReport): Markup {
  const { warnings = [] } = report;
  if (warnings.length === 0) return NOTHING;
  const rows = warnings.map(
    ({ at, message }) =>
      markup`<tr><td class="number">${renderDuration(at - runBeganAt(report))}</td><td class="why">${message.slice(0, MAX_VALUE_LENGTH)}</td></tr>`,
  );
  return markup`<h2>Warnings</h2><div class="scroll"><table><tr><th class="number">after</th><th class="why">warning</th></tr>${rows}</table></div>`;
}

/** The images of the steps, with their digests. */
export function renderImages({ images }: DetailedReport): Markup {
  if (images.length === 0) return NOTHING;
  const shown = images.slice(0, MAX_STEPS);
  const rows = shown.map((use) => {
    const more = use.steps.length > MAX_NAMES ? ` and ${use.steps.length - MAX_NAMES} more` : '';
    return markup`<tr><td class="why">${describeImage(use)}</td><td class="why">${use.steps.slice(0, MAX_NAMES).join(', ')}${more}</td></tr>`;
  });
  const note =
    shown.length < images.length ? markup`<p class="soft">${shown.length} of ${images.length} images</p>` : NOTHING;
  return markup`<h2>Images</h2>${note}<div class="scroll"><table><tr><th class="why">image</th><th class="why">steps</th></tr>${rows}</table></div>`;
}

/** One row per step. */
export function renderStepTable(report: DetailedReport): Markup {
  const attempts = new Map<string, AttemptReport[]>();
  for (const attempt of report.attempts) {
    const group = attempts.get(attempt.step);
    if (group) group.push(attempt);
    else attempts.set(attempt.step, [attempt]);
  }
  const shown = chooseSteps(report.steps);
  const rows = shown.map((step) => renderStep(step, attempts.get(step.step) ?? []));
  const note =
    shown.length < report.steps.length
      ? markup`<p class="soft">${shown.length} of ${report.steps.length} steps, first those that did not succeed; report.json and attempts.csv have all</p>`
      : NOTHING;
  return markup`<h2>Steps</h2>${note}<div class="scroll"><table><tr><th>step</th><th>status</th><th class="number">cells</th><th class="number">attempts</th><th class="number">waited</th><th class="number">ran</th><th>instance type</th><th class="why">why</th></tr>${rows}</table></div>`;
}

function chooseSteps(steps: readonly StepReport[]): readonly StepReport[] {
  if (steps.length <= MAX_STEPS) return steps;
  const isFine = ({ status }: StepReport) => status === 'succeeded';
  return [...steps.filter((step) => !isFine(step)), ...steps.filter(isFine)].slice(0, MAX_STEPS);
}

/** Waited and ran: sums over the attempts of all cells. */
function renderStep(step: StepReport, attempts: readonly AttemptReport[]): Markup {
  const { step: name, cells } = step;
  let [waited, ran] = [0, 0];
  for (const { readyAt, runningAt, endedAt } of attempts) {
    if (runningAt !== undefined) waited += Math.max(0, runningAt - (readyAt ?? runningAt));
    if (runningAt !== undefined && endedAt !== undefined) ran += endedAt - runningAt;
  }
  const types = [...new Set(attempts.flatMap(({ instanceType }) => instanceType ?? []))].sort().join(', ');
  const why = cells.find((cell) => cell.message !== undefined && cell.status !== 'succeeded')?.message ?? '';
  const counts = new Map<string, number>();
  for (const words of cells.map(describeStatus)) counts.set(words, (counts.get(words) ?? 0) + 1);
  const words = counts.size < 2 ? describeStatus(step) : [...counts].map(([of, count]) => `${count} ${of}`).join(', ');
  const time = (milliseconds: number) => (attempts.length === 0 ? '' : renderDuration(milliseconds));
  return markup`<tr><td>${name}</td><td class="${statusClass(step)}"><span class="dot"></span>${words}</td><td class="number">${cells.length}</td><td class="number">${attempts.length}</td><td class="number">${time(waited)}</td><td class="number">${time(ran)}</td><td>${types}</td><td class="why">${clip(why)}</td></tr>`;
}

/** The usage in instance-hours, by instance type. */
export function renderUsage({ usage }: DetailedReport): Markup {
  if (usage.length === 0) return NOTHING;
  const rows = usage.map(
    ({ clusterId, instanceType, containers, ranMs, instanceHours }) =>
      markup`<tr><td>${instanceType}</td><td>${clusterId}</td><td class="number">${containers}</td><td class="number">${renderDuration(ranMs)}</td><td class="number">${instanceHours.toFixed(4)}</td></tr>`,
  );
  return markup`<h2>Instance usage</h2><div class="scroll"><table><tr><th>instance type</th><th>cluster</th><th class="number">containers</th><th class="number">ran</th><th class="number">instance-hours</th></tr>${rows}</table></div>`;
}

/** Failed attempts with the ends of their logs. */
export function renderFailures(report: DetailedReport): Markup {
  // Attempts that were canceled with the run have not failed.
  const failures = report.failures.filter((failure) => failure.status === 'failed');
  if (failures.length === 0) return NOTHING;
  const shown = failures.slice(0, MAX_FAILURES);
  const note =
    shown.length < failures.length
      ? markup`<p class="soft">the first ${shown.length} of ${failures.length}; report.json and attempts.csv have all</p>`
      : NOTHING;
  return markup`<h2>Failed attempts</h2>${note}${shown.map(renderFailure)}`;
}

function renderFailure(failure: FailureReport): Markup {
  const { step, cell, item, attempt, message, hint, logTail, logFile } = failure;
  const name = cell === '' ? step : `${step}/${cell}`;
  const lines = logTail.slice(-MAX_LOG_LINES).map((line) => markup`${clip(line, MAX_LINE_LENGTH)}\n`);
  const log = lines.length === 0 ? NOTHING : markup`<pre>${lines}</pre>`;
  const given =
    item === undefined ? NOTHING : markup`<p class="soft">item: <code>${clip(JSON.stringify(item))}</code></p>`;
  const isEmpty = lines.length === 0 && logFile !== undefined;
  const whole = logFile === undefined ? NOTHING : markup`<p class="soft">whole log: <code>${logFile}</code></p>`;
  const file = isEmpty ? markup`<p class="soft">it wrote nothing</p>` : whole;
  const advice = hint === undefined ? NOTHING : markup`<p>hint: ${clip(hint)}</p>`;
  return markup`<div class="failure"><p><b>${name}</b> attempt ${attempt}: ${clip(message)} <span class="soft">(${failure.reason ?? failure.status})</span></p>${given}${advice}${log}${file}</div>`;
}

/** The parameters, results and outputs of the run. */
export function renderValues({ params, steps, outputs, results: declared = {} }: DetailedReport): Markup {
  const given = Object.entries(params).map(([name, value]) => ['parameter', name, JSON.stringify(value)] as const);
  const results = steps.flatMap(({ step: name, cells }) =>
    cells.length > 1
      ? []
      : Object.entries(cells[0]?.results ?? {}).map(
          ([result, value]) => ['result', `${name}.${result}`, JSON.stringify(value)] as const,
        ),
  );
  const files = Object.entries(outputs).map(
    ([name, output]) => ['output', name, output.publishedTo ?? describeLocations(output)] as const,
  );
  const own = Object.entries(declared).map(([name, value]) => ['result', name, JSON.stringify(value)] as const);
  const all = [...given, ...own, ...results, ...files];
  if (all.length === 0) return NOTHING;
  const rows = all
    .slice(0, MAX_STEPS)
    .map(
      ([kind, name, value]) =>
        markup`<tr><td>${kind}</td><td>${name}</td><td class="mono why">${clip(value)}</td></tr>`,
    );
  return markup`<h2>Parameters and results</h2><div class="scroll"><table><tr><th></th><th>name</th><th>value</th></tr>${rows}</table></div>`;
}

function clip(text: string, length = MAX_VALUE_LENGTH): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
