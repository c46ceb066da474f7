import { publishedPath } from '../data/layout.ts';
import { clusterOfOutputs, scopeOn, workspaceOn } from '../placement/place-of.ts';
import type { ReportSource } from './report-source.ts';
import type { OutputReport } from './run-report.ts';
import { stepIndex } from './step-context.ts';

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
