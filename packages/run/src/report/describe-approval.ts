import { resolveText } from '@sluice/core';
import { createRunContext } from '../facts/step-context.ts';
import type { ReportSource } from './report-source.ts';

/** The message of a step that waits for approval. An expression that cannot be evaluated is shown as it is. */
export function describeApproval(run: Pick<ReportSource, 'facts' | 'scheduler'>, step: number): string {
  const { plan } = run.facts;
  const { name, approval } = plan.steps[step]!.step;
  const template = approval?.message;
  if (template === undefined) return `approve step ${name}`;
  const text = resolveText(plan, template, createRunContext({ runId: run.facts.header?.runId ?? '', plan, ...run }, 1));
  return text.ok ? text.value : template;
}
