import type { Pipeline, Step } from '@sluice/core';

interface EarlierStep extends Omit<Step, 'retry'> {
  readonly maxParallel?: number;
  readonly retry: Step['retry'] & { readonly infrastructureLimit?: number };
}

interface EarlierConcurrency {
  readonly behavior?: 'queue' | 'cancel' | 'fail';
}

/** The pipeline of a plan that any version has written, with the present names: runs of earlier versions can be resumed. */
export function renamePlanKeys(pipeline: Pipeline): Pipeline {
  const { concurrency } = pipeline;
  return {
    ...pipeline,
    steps: renameSteps(pipeline.steps),
    finally: renameSteps(pipeline.finally),
    ...(concurrency && { concurrency: renameOverlap(concurrency) }),
  };
}

/** The same list where nothing has an earlier name: a plan may have a hundred thousand steps. */
function renameSteps(steps: readonly EarlierStep[]): readonly Step[] {
  const isEarlier = ({ maxParallel, retry }: EarlierStep): boolean =>
    maxParallel !== undefined || retry.infrastructureLimit !== undefined;
  return steps.some(isEarlier) ? steps.map(renameStep) : steps;
}

function renameStep({ maxParallel, ...step }: EarlierStep): Step {
  const { infrastructureLimit, ...retry } = step.retry;
  return {
    ...step,
    ...(maxParallel !== undefined && { parallelism: maxParallel }),
    retry: infrastructureLimit === undefined ? retry : { ...retry, infrastructure: infrastructureLimit },
  };
}

function renameOverlap(
  concurrency: NonNullable<Pipeline['concurrency']> & EarlierConcurrency,
): NonNullable<Pipeline['concurrency']> {
  const { behavior, ...rest } = concurrency;
  return behavior === undefined ? concurrency : { ...rest, overlap: behavior === 'cancel' ? 'replace' : behavior };
}
