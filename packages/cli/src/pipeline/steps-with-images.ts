import { type Plan, resolvePlannedText, type Step } from '@sluice/core';

/**
 * The steps that run in an image. A parameter may leave the image out by being empty; an image that depends on more than
 * the parameters counts as one.
 */
export function stepsWithImages(plan: Plan): Step[] {
  return plan.steps.map(({ step }) => step).filter(({ image }) => image !== undefined && !isEmpty(plan, image));
}

function isEmpty(plan: Plan, image: string): boolean {
  const text = resolvePlannedText(plan, image);
  return text.ok && text.value === '';
}
