import type { Step } from '../model/pipeline.ts';
import type { Plan } from '../model/plan.ts';
import { stepsWithImages } from './steps-with-images.ts';

/** A plan without images, and what it lost by that. */
export interface BarePlan {
  readonly plan: Plan;
  /** The steps that had an image. */
  readonly named: readonly Step[];
  /** Those of them without a command, which then have nothing to run. */
  readonly bare: readonly Step[];
}

/** Removes the images from a plan, so that commands run with the programs of the machine. */
export function ignoreImages(plan: Plan): BarePlan {
  const named = stepsWithImages(plan);
  const bare = named.filter(({ command }) => command === undefined);
  if (named.length === 0) return { plan, named, bare };
  const { steps, finally: last } = plan.pipeline;
  const ignored: Plan = {
    ...plan,
    pipeline: { ...plan.pipeline, steps: steps.map(withoutImage), finally: last.map(withoutImage) },
    steps: plan.steps.map((planned) => ({ ...planned, step: withoutImage(planned.step) })),
  };
  return { plan: ignored, named, bare };
}

function withoutImage(step: Step): Step {
  const { image: _image, ...rest } = step;
  return rest;
}
