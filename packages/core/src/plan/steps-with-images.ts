import type { Step } from '../model/pipeline.ts';
import type { Plan } from '../model/plan.ts';
import { resolvePlannedText } from '../resolve/resolve-text.ts';

/**
 * The steps that run in an image. An image that resolves to the empty string counts as none; one that depends on more
 * than parameters counts as an image.
 */
export function stepsWithImages(plan: Plan): Step[] {
  return plan.steps.map(({ step }) => step).filter(({ image }) => image !== undefined && !isEmpty(plan, image));
}

function isEmpty(plan: Plan, image: string): boolean {
  const text = resolvePlannedText(plan, image);
  return text.ok && text.value === '';
}
