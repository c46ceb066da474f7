import { resolveText } from '@sluice/core';
import { createRunContext } from '../facts/step-context.ts';
import type { ReportSource } from './report-source.ts';

/**
 * The message of a step that waits for approval, or of one of its cells if it has `each`. An expression that cannot be
 * evaluated is shown as it is.
 */
export function describeApproval(run: Pick<ReportSource, 'facts' | 'scheduler'>, step: number, cell?: number): string {
  const { plan } = run.facts;
  const { name, approval, each } = plan.steps[step]!.step;
  const of = each === undefined || cell === undefined ? undefined : { step, cell };
  const known = of && run.facts.cells[step]?.[of.cell];
  const template = approval?.message;
  if (template === undefined) return `approve step ${known === undefined ? name : `${name}/${known.key}`}`;
  const context = createRunContext({ runId: run.facts.header?.runId ?? '', plan, ...run }, 1, of);
  // The parts of the context are computed when they are read, so that it is extended, not copied.
  const text = resolveText(plan, template, known ? Object.create(context, { cell: { value: known } }) : context);
  return text.ok ? text.value : template;
}
