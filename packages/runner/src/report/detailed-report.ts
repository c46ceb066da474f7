import type { Json } from '@sluice/core';
import type { ReportSource } from '../run/create-report.ts';
import type { RunReport } from '../run/run-report.ts';
import { type AttemptReport, reportAttempts } from './attempt-report.ts';
import { type RunTimes, timeCells } from './cell-times.ts';
import { type CriticalCell, findCriticalPath } from './critical-path.ts';
import { sumUsage, type Usage } from './usage.ts';

/** A run with every attempt that it made: what `report.json` holds and the page is drawn from. Plain JSON data. */
export interface DetailedReport extends RunReport {
  /** When it was made: what has not ended is counted up to here. */
  readonly madeAt: number;
  readonly description?: string;
  readonly params: Readonly<Record<string, Json>>;
  readonly attempts: readonly AttemptReport[];
  readonly criticalPath: readonly CriticalCell[];
  readonly usage: readonly Usage[];
  /** For each step of `steps`, indexes of those that it depends on. */
  readonly dependencies: readonly (readonly number[])[];
}

/** `report` with all that facts and scheduler know beside it. Linear in the run's attempts. */
export function createDetailedReport(
  source: Pick<ReportSource, 'facts' | 'scheduler'>,
  { report, now }: { readonly report: RunReport; readonly now: number },
): DetailedReport {
  const { plan } = source.facts;
  const times: RunTimes = timeCells(source);
  const attempts = reportAttempts(source, times);
  const madeAt = source.facts.finished?.at ?? now;
  const { description } = plan.pipeline;
  return {
    ...report,
    madeAt,
    ...(description !== undefined && { description }),
    params: plan.params,
    attempts,
    criticalPath: findCriticalPath(source.facts, times),
    usage: sumUsage(attempts, madeAt),
    dependencies: plan.steps.map(({ dependencies }) => dependencies.map(({ on }) => on)),
  };
}
