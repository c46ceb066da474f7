import { resolveText } from '@sluice/core';
import { type ContextSource, createRunContext } from '../facts/step-context.ts';

/** The message of a step that waits for approval. An expression that cannot be evaluated is shown as it is. */
export function describeApproval(source: ContextSource, step: number): string {
  const { name, approval } = source.plan.steps[step]!.step;
  const template = approval?.message;
  const text = template === undefined ? undefined : resolveText(source.plan, template, createRunContext(source, 1));
  return text?.ok ? text.value : (template ?? `approve step ${name}`);
}
