import path from 'node:path';
import type { NeedCondition } from '@sluice/core';
import { publishedPath } from '../data/layout.ts';
import { clusterOfOutputs, scopeOn, workspaceOn } from '../placement/place-of.ts';
import { attemptVerdict } from '../scheduler/attempt-verdict.ts';
import type { CancelReason } from '../scheduler/command.ts';
import type { PostponeReason } from '../scheduler/event.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { SkipCause } from '../scheduler/skip-cause.ts';
import type { WaitReason } from '../scheduler/wait-reason.ts';
import type { AttemptFacts, RunFacts } from './run-facts.ts';
import type { CellReport, FailureReport, OutputReport, RunPhase, RunReport, StepReport } from './run-report.ts';
import { stepIndex } from './step-context.ts';

export interface ReportSource {
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
  /** The run's directory in the home. */
  readonly directory: string;
}

/** The run as facts and scheduler tell it now. */
export function createReport(source: ReportSource, status: RunPhase, message?: string): RunReport {
  const { facts } = source;
  const header = facts.header;
  return {
    runId: header?.runId ?? '',
    pipeline: facts.plan.pipeline.name,
    status,
    ...(message !== undefined && { message }),
    startedAt: facts.startedAt,
    ...(facts.finished && { endedAt: facts.finished.at }),
    clusterID: header?.clusterID ?? '',
    accountID: header?.accountID ?? '',
    steps: facts.plan.steps.map((_, step) => reportStep(source, step)),
    failures: facts.failures.map((entry) => reportFailure(source, entry)),
    outputs: reportOutputs(source),
  };
}

function reportStep(source: ReportSource, step: number): StepReport {
  const cells = source.facts.cells[step] ?? [];
  return {
    name: source.facts.plan.steps[step]!.step.name,
    state: source.scheduler.state(step),
    cells: cells.map((_, cell) => reportCell(source, step, cell)),
  };
}

function reportCell({ facts, scheduler }: ReportSource, step: number, cell: number): CellReport {
  const known = facts.known[step]?.[cell];
  const last = known?.attempts.at(-1);
  const reason = explainCell({ facts, scheduler }, step, cell);
  return {
    key: facts.cells[step]?.[cell]?.key ?? '',
    state: scheduler.state(step, cell),
    attempts: scheduler.attempt(step, cell),
    ...(last && pickTimes(last)),
    ...(reason !== undefined && { reason }),
    results: known?.results ?? {},
    ...(known?.cached && { cachedFrom: known.cached.runId }),
  };
}

function pickTimes(attempt: AttemptFacts): Partial<CellReport> {
  return {
    ...(attempt.id !== undefined && { containerID: attempt.id }),
    ...(attempt.clusterID !== undefined && { clusterID: attempt.clusterID }),
    ...(attempt.submittedAt !== undefined && { submittedAt: attempt.submittedAt }),
    ...(attempt.runningAt !== undefined && { runningAt: attempt.runningAt }),
    ...(attempt.endedAt !== undefined && { endedAt: attempt.endedAt }),
  };
}

/** One line on why a cell waits, was skipped or failed; undefined where there is nothing to explain. */
export function explainCell(
  { facts, scheduler }: Pick<ReportSource, 'facts' | 'scheduler'>,
  step: number,
  cell: number,
): string | undefined {
  const undecidable = facts.undecidable.get(step);
  if (undecidable !== undefined) return undecidable;
  const wait = scheduler.waitReason(step, cell);
  if (wait) return describeWait(wait);
  const skip = scheduler.skipCause(step, cell);
  const outcome = facts.known[step]?.[cell]?.attempts.at(-1)?.outcome;
  // What ended badly by itself is not explained by another failure, which only kept it from a further attempt.
  const isOwn = skip?.kind === 'failFast' && FAILED.has(scheduler.state(step, cell));
  if (skip && !isOwn) return describeSkip(skip);
  return outcome?.result === 'failed' ? outcome.message : undefined;
}

const FAILED: ReadonlySet<string> = new Set(['failed', 'errored', 'timedOut']);

/** A wait reason in words. */
export function describeWait(wait: WaitReason): string {
  switch (wait.kind) {
    case 'dependency':
      return `waits for ${wait.steps.join(', ')}`;
    case 'finally':
      return `waits until every other step is over (${wait.open} left)`;
    case 'decision':
      return 'its condition is being evaluated';
    case 'lookUp':
      return 'an earlier result is being looked for';
    case 'approval':
      return 'waits for approval';
    case 'parallelism':
    case 'maxParallel':
      return `waits for ${wait.kind}: ${wait.used} of ${wait.size} are in use`;
    case 'pool':
      return `waits for pool ${wait.pool}: needs ${wait.needed}, ${wait.used} of ${wait.size} are in use`;
    case 'limit':
      return `waits for limit ${wait.limit}: needs ${wait.needed}, ${wait.used} of ${wait.size} are in use`;
    case 'backoff':
      return `attempt ${wait.attempt} starts at ${new Date(wait.until).toISOString()}`;
    case 'turn':
      return 'it is its turn as soon as what was placed before it has started';
    case 'postponed':
      return `${wait.detail ?? POSTPONED[wait.reason]}; tried again at ${new Date(wait.until).toISOString()}`;
  }
}

const POSTPONED: Readonly<Record<PostponeReason, string>> = {
  quota: 'the account has no room at the service',
  throttled: 'the service asks for fewer calls',
  pool: 'another run holds the pool',
  volume: 'a volume is not available yet',
  unavailable: 'the service does not answer',
  placement: 'no cluster that it may run on has room',
};

const NOT_GIVEN: Readonly<Record<NeedCondition, string>> = {
  succeeded: 'did not succeed',
  failed: 'did not fail',
  completed: 'did not end',
  skipped: 'was not skipped',
  running: 'never ran',
};

function describeSkip(cause: SkipCause): string {
  switch (cause.kind) {
    case 'when':
      return 'its condition does not hold';
    case 'dependency':
      return `${cause.step} ${NOT_GIVEN[cause.condition]}`;
    case 'failFast':
      return `${cause.step} failed`;
    case 'notNeeded':
      return 'nobody needs it any more';
    case 'canceled':
      return 'the run was canceled';
    case 'runTimeout':
      return 'the time of the run was up';
    case 'deadline':
      return 'its deadline had passed';
    case 'stuck':
      return `could never start: ${describeWait(cause.wait)}, which nobody would have freed`;
  }
}

function reportFailure(source: ReportSource, entry: { step: number; cell: number; attempt: number }): FailureReport {
  return describeFailure(source, entry);
}

/** A failed attempt as people read it. */
export function describeFailure(
  { facts, directory }: Pick<ReportSource, 'facts' | 'directory'>,
  entry: { step: number; cell: number; attempt: number },
): FailureReport {
  const attempt = facts.known[entry.step]?.[entry.cell]?.attempts.find((known) => known.attempt === entry.attempt);
  // A container that was cancelled for its timeout has timed out, whatever the service calls it.
  const outcome = attempt?.outcome && attemptVerdict(attempt.outcome, attempt.cancelReason as CancelReason | undefined);
  const failed = outcome?.result === 'failed' ? outcome : undefined;
  return {
    step: facts.plan.steps[entry.step]!.step.name,
    cell: facts.cells[entry.step]?.[entry.cell]?.key ?? '',
    attempt: entry.attempt,
    class: failed?.class ?? 'canceled',
    ...(failed?.exitCode !== undefined && { exitCode: failed.exitCode }),
    message: failed?.message ?? `canceled${attempt?.cancelReason ? ` (${attempt.cancelReason})` : ''}`,
    ...(attempt?.id !== undefined && { containerID: attempt.id }),
    logTail: attempt?.logTail ?? [],
    ...(attempt?.logFile !== undefined && { logFile: path.join(directory, attempt.logFile) }),
  };
}

/** The pipeline's outputs whose step has succeeded, by name. */
export function reportOutputs({
  facts,
  scheduler,
}: Pick<ReportSource, 'facts' | 'scheduler'>): Record<string, OutputReport> {
  const outputs: Record<string, OutputReport> = {};
  for (const [name, { from }] of Object.entries(facts.plan.pipeline.outputs)) {
    const step = stepIndex(facts.plan, from.step);
    if (step === undefined || !['succeeded', 'cached'].includes(scheduler.state(step))) continue;
    const cached = facts.known[step]?.[0]?.cached;
    const publishedTo = facts.delivered[name];
    const notPublished = facts.undelivered[name];
    const clusterID = clusterOfOutputs(facts, step, 0);
    outputs[name] = {
      step: from.step,
      output: from.output,
      ...scopeOn(facts, clusterID),
      volumeID: cached?.volumeID ?? workspaceOn(facts, clusterID),
      path: publishedPath({
        runId: cached?.runId ?? facts.header?.runId ?? '',
        step: cached?.step ?? from.step,
        output: from.output,
      }),
      ...(publishedTo !== undefined && { publishedTo }),
      ...(notPublished !== undefined && { notPublished }),
    };
  }
  return outputs;
}
