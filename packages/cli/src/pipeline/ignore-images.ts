import type { Diagnostic, Plan, Step } from '@sluice/core';
import { listSome } from '../text/shorten.ts';
import { stepsWithImages } from './steps-with-images.ts';

/**
 * Removes the images from a plan, so that commands run with this machine's programs. The diagnostics are a warning, or
 * an error if a step has no command of its own.
 */
export function ignoreImages(plan: Plan): { readonly plan: Plan; readonly diagnostics: readonly Diagnostic[] } {
  const named = stepsWithImages(plan);
  if (named.length === 0) return { plan, diagnostics: [] };
  const bare = named.filter(({ command }) => command === undefined);
  if (bare.length > 0) {
    const message = `could not ignore the image of ${listNames(bare)}: there is no command to run; add \`command\` or \`script\``;
    return { plan, diagnostics: [{ code: 'nothing-to-run', severity: 'error', message }] };
  }
  const { steps, finally: last } = plan.pipeline;
  const ignored: Plan = {
    ...plan,
    pipeline: { ...plan.pipeline, steps: steps.map(withoutImage), finally: last.map(withoutImage) },
    steps: plan.steps.map((planned) => ({ ...planned, step: withoutImage(planned.step) })),
  };
  const message = `images are ignored: ${listNames(named)} run${named.length === 1 ? 's' : ''} with this machine's programs`;
  return { plan: ignored, diagnostics: [{ code: 'images-ignored', severity: 'warning', message }] };
}

function withoutImage(step: Step): Step {
  const { image: _image, ...rest } = step;
  return rest;
}

/** `step fit`, or `steps fit, train and 3 more`. */
export function listNames(steps: readonly Step[]): string {
  const names = steps.map(({ name }) => name);
  return `step${names.length === 1 ? '' : 's'} ${listSome(names, 60)}`;
}
