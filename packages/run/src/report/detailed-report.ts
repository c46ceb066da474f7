import { type Plan, planLevels } from '@sluice/core';
import type { DetailedReport, RunReport } from '../schemas/run-report.ts';
import { reportAttempts } from './attempt-report.ts';
import { type RunTimes, timeCells } from './cell-times.ts';
import { findCriticalPath } from './critical-path.ts';
import { listRunImages } from './list-images.ts';
import type { ReportSource } from './report-source.ts';
import { sumUsage } from './usage.ts';

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
  const places = plan.steps.map(({ final, index }) => (final ? mains : levels[index]!));
  const finals = plan.steps.filter(({ final }) => final).sort((a, b) => levels[a.index]! - levels[b.index]!);
  for (const { index, dependencies } of finals)
    for (const { on } of dependencies) places[index] = Math.max(places[index]!, places[on]! + 1);
  return places;
}
