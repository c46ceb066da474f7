import { type Json, own } from '@sluice/core';
import { createRunContext, stepIndex } from '../facts/step-context.ts';
import type { RunReport } from '../schemas/run-report.ts';
import type { ReportSource } from './report-source.ts';

/** The results of the pipeline whose steps have succeeded, by name; nothing if it declares none. */
export function reportResults({
  facts,
  scheduler,
}: Pick<ReportSource, 'facts' | 'scheduler'>): Pick<RunReport, 'results'> {
  const { plan, header } = facts;
  const declared = plan.pipeline.results;
  if (declared === undefined) return {};
  const context = createRunContext({ runId: header?.runId ?? '', plan, facts, scheduler }, 1);
  const results: Record<string, Json> = {};
  for (const [name, { step, result }] of Object.entries(declared)) {
    if (stepIndex(plan, step) === undefined) continue;
    const known = context.steps(step);
    const value = known?.status === 'succeeded' ? own(known.results, result) : undefined;
    if (value !== undefined) results[name] = value;
  }
  return { results };
}
