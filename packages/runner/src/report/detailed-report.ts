import { type Json, type Plan, planLevels } from '@sluice/core';
import { type AttemptReport, reportAttempts } from './attempt-report.ts';
import { type RunTimes, timeCells } from './cell-times.ts';
import { type CriticalCell, findCriticalPath } from './critical-path.ts';
import { type ImageUse, listRunImages } from './list-images.ts';
import type { ReportSource } from './report-source.ts';
import type { RunReport } from './run-report.ts';
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
  /** What its steps ran, by digest where the service could tell it. */
  readonly images: readonly ImageUse[];
  /** For each step of `steps`, indexes of those that it depends on. */
  readonly dependencies: readonly (readonly number[])[];
  /** For each step of `steps` its column in the picture: how far it is from the start. */
  readonly levels: readonly number[];
}

/** `report` with all that facts and scheduler know beside it. Linear in the run's attempts. */
export function createDetailedReport(
  source: Pick<ReportSource, 'facts' | 'scheduler'>,
  { report, now }: { readonly report: RunReport; readonly now: number },
): DetailedReport {
  const { plan } = source.facts;
  const levels = planLevels(plan);
  const times: RunTimes = timeCells(source, levels);
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
    images: listRunImages(source.facts),
    dependencies: plan.steps.map(({ dependencies }) => dependencies.map(({ on }) => on)),
    levels: placeSteps(plan, levels),
  };
}

/** Those of `finally` come after all others. */
function placeSteps(plan: Plan, levels: readonly number[]): number[] {
  const mains = plan.steps.reduce((most, { final, index }) => (final ? most : Math.max(most, levels[index]! + 1)), 0);
  return plan.steps.map(({ final, index }) => (final ? Math.max(mains, levels[index]!) : levels[index]!));
}
