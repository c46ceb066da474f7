import path from 'node:path';
import { choosesPipefail, describeUnknown, fail, ok, type Result } from '@sluice/core';
import type { Disk } from '../journal/disk.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import type { CellFacts } from '../record/run-facts.ts';
import type { RunRefusal } from '../record/run-refusal.ts';
import { stepIndex } from '../record/step-context.ts';
import { outlineAttempt } from '../report/attempt-outline.ts';
import { describeFailure } from '../report/describe-failure.ts';
import { describeWait, explainCell } from '../report/explain-cell.ts';
import { itemOf } from '../report/item-of.ts';
import { listRunImages } from '../report/list-images.ts';
import { type ReplayedRun, readPhase, readRunFiles, replayFiles } from '../report/read-run.ts';
import { describeServiceHold, findServiceHold } from '../report/service-hold.ts';
import { CELL_STATES, type CellState, TERMINAL_CELL_STATES } from '../scheduler/model/cell-state.ts';
import { advise, type SuggestCommand } from './advise.ts';
import { explainCache } from './explain-cache.ts';
import { explainRetries } from './explain-retries.ts';
import type {
  AttemptExplanation,
  DependencyExplanation,
  StepExplanation,
  WaitExplanation,
} from './step-explanation.ts';
import { type StoryLine, traceCell } from './trace-cell.ts';

/** The step to explain. */
export interface ExplainStepOptions {
  readonly home: string;
  /** May be shortened to an unambiguous prefix. */
  readonly runId: string;
  /** `STEP` or `STEP/CELL`. Without a cell, that one is explained whose state comes first in `PRIORITY`. */
  readonly step: string;
  readonly disk?: Disk;
  /** Renders the commands in the advice. Default: `sluice` and the arguments, unquoted. */
  readonly suggest?: SuggestCommand;
}

/** The states by how much they need an explanation, most first. */
const PRIORITY: readonly CellState[] = [
  'failed',
  'errored',
  'timedOut',
  'awaitingApproval',
  'backingOff',
  'ready',
  'pending',
  'submitting',
  'running',
  'publishing',
  'checking',
  'waiting',
  'canceled',
  'skipped',
  'succeeded',
  'cached',
];

/** Why a step is in its state, from the run's journal alone, during the run or after it. Changes nothing. */
export async function explainStep(options: ExplainStepOptions): Promise<Result<StepExplanation, RunRefusal>> {
  const disk = options.disk ?? createSystemDisk();
  const home = path.resolve(options.home);
  const files = await readRunFiles(disk, home, options.runId);
  if (!files.ok) return files;
  const first = replayFiles(files.value);
  if (!first.ok) return first;
  const place = findCell(first.value, options.step);
  if (!place.ok) return fail({ code: 'STEP_NOT_FOUND', message: place.error });
  const { step, cell } = place.value;
  const { moves, story } = traceCell(step, cell);
  const replayed = replayFiles(files.value, moves);
  if (!replayed.ok) return replayed;
  const run = replayed.value;
  const planned = run.facts.plan.steps[step]!;
  const key = run.facts.cells[step]?.[cell]?.key ?? '';
  const known = run.facts.known[step]?.[cell];
  const hold = run.scheduler.state(step, cell) === 'pending' ? findServiceHold(run) : undefined;
  const reason = hold ? describeServiceHold(hold) : explainCell(run, step, cell);
  const wait = explainWait(run, { step, cell, story, suggest: options.suggest ?? suggestPlainly });
  return ok({
    runId: run.runId,
    pipeline: run.facts.plan.pipeline.name,
    status: await readPhase(disk, run),
    step: planned.step.name,
    cell: key,
    ...itemOf(run.facts, step, cell),
    state: run.scheduler.state(step, cell),
    cells: countCells(run, step),
    ...(reason !== undefined && { reason }),
    ...(wait && { wait }),
    ...(choosesPipefail(planned.step.command) && { pipefail: true }),
    dependencies: explainDependencies(run, step),
    attempts: explainAttempts(run, step, cell),
    ...explainImage(run, planned.step.name),
    cache: await explainCache({ step: planned.step, key, known }, { disk, home }),
    ...findServiceWarnings(run, known),
    story,
  });
}

function findCell(run: ReplayedRun, name: string): Result<{ step: number; cell: number }, string> {
  const { plan } = run.facts;
  const slash = name.indexOf('/');
  const stepName = slash < 0 ? name : name.slice(0, slash);
  const step = stepIndex(plan, stepName);
  if (step === undefined) {
    const names = plan.steps.map((one) => one.step.name);
    return fail(`run ${run.runId} has no step ${describeUnknown(stepName, names)}`);
  }
  if (slash < 0) return ok({ step, cell: chooseCell(run, step) });
  const key = name.slice(slash + 1);
  const keys = (run.facts.cells[step] ?? []).map((one) => one.key);
  const cell = keys.indexOf(key);
  if (cell >= 0) return ok({ step, cell });
  const named = keys.filter((one) => one !== '');
  return fail(`step ${stepName} of run ${run.runId} has no cell ${describeUnknown(key, named)}`);
}

function chooseCell({ scheduler }: ReplayedRun, step: number): number {
  let best = 0;
  for (let cell = 1; cell < (scheduler.cellCount(step) ?? 0); cell++) {
    const isBetter = PRIORITY.indexOf(scheduler.state(step, cell)) < PRIORITY.indexOf(scheduler.state(step, best));
    if (isBetter) best = cell;
  }
  return best;
}

function countCells({ scheduler }: ReplayedRun, step: number): StepExplanation['cells'] {
  const counts = new Map<CellState, number>();
  for (let cell = 0; cell < (scheduler.cellCount(step) ?? 1); cell++) {
    const state = scheduler.state(step, cell);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return CELL_STATES.flatMap((state) => (counts.has(state) ? [{ state, count: counts.get(state)! }] : []));
}

function explainWait(
  run: ReplayedRun,
  { step, cell, story, suggest }: { step: number; cell: number; story: readonly StoryLine[]; suggest: SuggestCommand },
): WaitExplanation | undefined {
  const reason = run.scheduler.waitReason(step, cell);
  if (!reason) return undefined;
  const since = story.findLast(({ to }) => to !== undefined)?.at ?? run.facts.startedAt;
  const advice = advise(reason, { runId: run.runId, step: run.facts.plan.steps[step]!.step.name, suggest });
  return { reason, message: describeWait(reason), since, ...(advice !== undefined && { advice }) };
}

function explainImage({ facts }: ReplayedRun, name: string): Pick<StepExplanation, 'image'> {
  const used = listRunImages(facts).find(({ steps }) => steps.includes(name));
  if (used === undefined) return {};
  const { steps: _, ...image } = used;
  return { image };
}

/** Warnings about the service, which may explain why the state of a container is unknown. */
function findServiceWarnings({ facts }: ReplayedRun, known: CellFacts | undefined): Pick<StepExplanation, 'warnings'> {
  const warnings = facts.warnings.filter(({ concerns }) => concerns === 'service');
  const hasAsked = known?.attempts.some(({ id }) => id !== undefined) ?? false;
  return hasAsked && warnings.length > 0 ? { warnings } : {};
}

function suggestPlainly(words: readonly string[]): string {
  return ['sluice', ...words].join(' ');
}

function explainDependencies({ facts, scheduler }: ReplayedRun, step: number): DependencyExplanation[] {
  return facts.plan.steps[step]!.dependencies.map(({ on, condition }) => ({
    step: facts.plan.steps[on]!.step.name,
    condition,
    state: scheduler.state(on),
  }));
}

function explainAttempts(run: ReplayedRun, step: number, cell: number): AttemptExplanation[] {
  const attempts = run.facts.known[step]?.[cell]?.attempts ?? [];
  const isFinished = TERMINAL_CELL_STATES.has(run.scheduler.state(step, cell));
  const retries = explainRetries(attempts, { ...run.facts.plan.steps[step]!.step, isFinished });
  return attempts.map((attempt) => {
    const retry = retries.get(attempt.attempt);
    const outline = outlineAttempt(attempt);
    return {
      ...outline,
      ...(attempt.postponed && { postponed: attempt.postponed }),
      ...(outline.result === 'failed' && { failure: describeFailure(run, { step, cell, attempt: attempt.attempt }) }),
      ...(retry !== undefined && { retry }),
    };
  });
}
