import { own } from '@sluice/core';
import { locateCells } from '../record/locate-output.ts';
import { scopeOn } from '../record/place-of.ts';
import { stepIndex } from '../record/step-context.ts';
import type { ReportSource } from './report-source.ts';
import type { OutputReport } from './run-report.ts';

/** The pipeline's outputs whose step has succeeded, by name. */
export function reportOutputs({
  facts,
  scheduler,
}: Pick<ReportSource, 'facts' | 'scheduler'>): Record<string, OutputReport> {
  const { plan } = facts;
  const run = { runId: facts.header?.runId ?? '', plan, facts, scheduler };
  const outputs: Record<string, OutputReport> = {};
  for (const [name, { from }] of Object.entries(plan.pipeline.outputs)) {
    const step = stepIndex(plan, from.step);
    if (step === undefined || !['succeeded', 'cached'].includes(scheduler.state(step))) continue;
    const publishedTo = own(facts.delivered, name);
    const notPublished = own(facts.undelivered, name);
    const places = locateCells(run, { step, output: from.output });
    outputs[name] = {
      step: from.step,
      output: from.output,
      places: places.map((place) => ({ ...place, ...scopeOn(facts, place.clusterID) })),
      ...(publishedTo !== undefined && { publishedTo }),
      ...(notPublished !== undefined && { notPublished }),
    };
  }
  return outputs;
}
