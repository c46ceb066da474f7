import { type Json, type Plan, planLevels } from '@sluice/core';
import { type AttemptReport, reportAttempts } from './attempt-report.ts';
import { type RunTimes, timeCells } from './cell-times.ts';
import { type CriticalCell, findCriticalPath } from './critical-path.ts';
import { type ImageUse, listRunImages } from './list-images.ts';
import type { ReportSource } from './report-source.ts';
import type { RunReport } from './run-report.ts';
import { sumUsage, type Usage } from './usage.ts';

/** A run with all its attempts, from which the page is rendered. `report.json` has the same names and values. */
export interface DetailedReport extends RunReport {
  /** When the report was made: durations of what has not ended count until this time. */
  readonly madeAt: number;
  readonly description?: string;
  readonly params: Readonly<Record<string, Json>>;
  readonly attempts: readonly AttemptReport[];
  readonly criticalPath: readonly CriticalCell[];
  readonly usage: readonly Usage[];
  /** The images of its steps, with digests if the service reported them. */
  readonly images: readonly ImageUse[];
  /** For each step of `steps` the indexes of its dependencies. */
  readonly dependencies: readonly (readonly number[])[];
  /** For each step of `steps` its column in the graph: its distance from the start. */
  readonly levels: readonly number[];
}

/** Extends `report` with the details from facts and scheduler. Linear in the number of attempts. */
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

/** The steps of `finally` come after all others. */
export function placeSteps(plan: Plan, levels: readonly number[]): number[] {
  const mains = plan.steps.reduce((most, { final, index }) => (final ? most : Math.max(most, levels[index]! + 1)), 0);
  return plan.steps.map(({ final, index }) => (final ? Math.max(mains, levels[index]!) : levels[index]!));
}
