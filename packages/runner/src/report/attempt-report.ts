import type { FailureClass } from '@sluice/core';
import type { AttemptFacts, RunFacts } from '../run/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { RunTimes } from './cell-times.ts';

/** One attempt from the moment when it could have started. Times are milliseconds since the epoch. */
export interface AttemptReport {
  readonly step: string;
  readonly cell: string;
  readonly attempt: number;
  readonly result: 'open' | 'succeeded' | 'failed' | 'canceled';
  readonly class?: FailureClass;
  readonly exitCode?: number;
  readonly message?: string;
  readonly cancelReason?: string;
  readonly clusterID?: string;
  readonly instanceType?: string;
  readonly containerID?: string;
  /** Nothing but room was missing any more: of a retry, the end of the attempt before. */
  readonly readyAt?: number;
  /** The service was about to be asked. */
  readonly askedAt?: number;
  readonly submittedAt?: number;
  readonly runningAt?: number;
  readonly endedAt?: number;
  readonly publishedAt?: number;
  /** How often the submission was put off. */
  readonly postponed: number;
  /** Relative to the run's directory. */
  readonly logFile?: string;
}

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
        attempts.push({ ...place, ...reportAttempt(attempt), ...(readyAt !== undefined && { readyAt }) });
        readyAt = attempt.endedAt;
      }
    }
  }
  return attempts;
}

function reportAttempt(attempt: AttemptFacts): Omit<AttemptReport, 'step' | 'cell' | 'readyAt'> {
  const { id, clusterID, instanceType, outcome, cancelReason, logFile } = attempt;
  const { askedAt, submittedAt, runningAt, endedAt, publishedAt } = attempt;
  const failed = outcome?.result === 'failed' ? outcome : undefined;
  return {
    attempt: attempt.attempt,
    result: outcome?.result ?? 'open',
    ...(failed && { class: failed.class, message: failed.message }),
    ...(failed?.exitCode !== undefined && { exitCode: failed.exitCode }),
    ...(cancelReason !== undefined && { cancelReason }),
    ...(clusterID !== undefined && { clusterID }),
    ...(instanceType !== undefined && { instanceType }),
    ...(id !== undefined && { containerID: id }),
    ...(askedAt !== undefined && { askedAt }),
    ...(submittedAt !== undefined && { submittedAt }),
    ...(runningAt !== undefined && { runningAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(publishedAt !== undefined && { publishedAt }),
    postponed: attempt.postponed?.times ?? 0,
    ...(logFile !== undefined && { logFile }),
  };
}

/** Milliseconds that an attempt has run, up to `now` where it has not ended; 0 where it never began. */
export function ranFor({ runningAt, submittedAt, endedAt }: AttemptReport, now: number): number {
  const from = runningAt ?? (endedAt === undefined ? undefined : submittedAt);
  return from === undefined ? 0 : Math.max(0, (endedAt ?? now) - from);
}
