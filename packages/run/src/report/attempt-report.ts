import type { AttemptFacts, RunFacts } from '../facts/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { AttemptReport } from '../schemas/attempt.ts';
import type { CellValues } from '../schemas/cell.ts';
import { outlineAttempt } from './attempt-outline.ts';
import type { RunTimes } from './cell-times.ts';
import { cellValuesOf } from './cell-values-of.ts';
import { omitUnknown } from './omit-unknown.ts';
import { verdictOf } from './verdict-of.ts';

/** Every attempt of a run, in order of steps, cells and attempts. */
export function reportAttempts(
  { facts, scheduler }: { facts: RunFacts; scheduler: Scheduler },
  times: RunTimes,
): AttemptReport[] {
  const attempts: AttemptReport[] = [];
  for (const { index, step } of facts.plan.steps) {
    for (let cell = 0; cell < (scheduler.cellCount(index) ?? 0); cell++) {
      let readyAt = times.of(index, cell).readyAt;
      for (const attempt of facts.known[index]?.[cell]?.attempts ?? []) {
        const place = { step: step.name, cell: facts.cells[index]?.[cell]?.key ?? '' };
        attempts.push(reportAttempt(attempt, { values: cellValuesOf(facts, index, cell), readyAt, ...place }));
        readyAt = attempt.endedAt;
      }
    }
  }
  return attempts;
}

interface AttemptPlace {
  readonly step: string;
  readonly cell: string;
  readonly values: CellValues;
  readonly readyAt: number | undefined;
}

function reportAttempt(attempt: AttemptFacts, { step, cell, values, readyAt }: AttemptPlace): AttemptReport {
  const { cancelReason, logFile } = attempt;
  const { axes, matrix, item } = values;
  const outcome = verdictOf(attempt);
  const failed = outcome?.result === 'failed' ? outcome : undefined;
  const outline = outlineAttempt(attempt);
  return omitUnknown<AttemptReport>({
    step,
    cell,
    axes,
    matrix,
    item,
    attempt: outline.attempt,
    status: outline.status,
    reason: outline.reason,
    containerId: outline.containerId,
    clusterId: outline.clusterId,
    instanceType: outline.instanceType,
    requestedAt: outline.requestedAt,
    submittedAt: outline.submittedAt,
    runningAt: outline.runningAt,
    endedAt: outline.endedAt,
    publishedAt: outline.publishedAt,
    message: failed?.message,
    exitCode: failed?.exitCode,
    cancelReason,
    postponed: attempt.postponed?.times ?? 0,
    logFile,
    readyAt,
  });
}

/** When it began to run; the time of the submission if it ended before it was observed running. */
export function beganAt(attempt: AttemptReport): number | undefined {
  const { runningAt, submittedAt, endedAt, status, cancelReason } = attempt;
  const waitedOnly = endedAt === undefined || status === 'canceled' || cancelReason !== undefined;
  return runningAt ?? (waitedOnly ? undefined : submittedAt);
}

/** Milliseconds that an attempt has run, until `now` if it has not ended; 0 if it never began. */
export function ranFor(attempt: AttemptReport, now: number): number {
  const from = beganAt(attempt);
  return from === undefined ? 0 : Math.max(0, (attempt.endedAt ?? now) - from);
}
