import type { Pipeline, Step } from '../model/pipeline.ts';

/** All steps of a pipeline by index: `steps` in the order of the file, then `finally`. */
export function allSteps(pipeline: Pick<Pipeline, 'steps' | 'finally'>): readonly Step[] {
  return pipeline.finally.length === 0 ? pipeline.steps : [...pipeline.steps, ...pipeline.finally];
}
