import { type Plan, planLevels, type Step } from '@sluice/core';

/**
 * Describes how the parts of a received plan contradict each other, each of which has a valid form; undefined if the plan
 * can be executed.
 */
export function findPlanFault(plan: Plan): string | undefined {
  const { pipeline, steps } = plan;
  const all = [...pipeline.steps, ...pipeline.finally];
  const known = new Map(all.map((step) => [step.name, step]));
  if (known.size < all.length) return 'the plan has two steps of one name';
  const isOrdered = steps.every(({ dependencies }) =>
    dependencies.every(({ on }, edge) => on > (dependencies[edge - 1]?.on ?? -1)),
  );
  if (!isOrdered) return 'the plan has a dependency twice, or out of order';
  if (planLevels(plan).includes(-1)) return 'the plan has steps that depend on each other';
  const command = pipeline.notify.findIndex((one) => one.command !== undefined);
  if (command >= 0) return `notify.${command}.command: a server runs no commands; use \`webhook\``;
  for (const { step, cells } of steps) {
    if (new Set(cells?.map(({ key }) => key)).size < (cells?.length ?? 0)) {
      return `the plan has two cells of one key in step ${step.name}`;
    }
    const isForeach = step.foreach !== undefined;
    if (isForeach !== (cells === undefined)) return `the plan has other cells than step ${step.name}`;
    const missing = findMissing(step, { known, volumes: pipeline.volumes });
    if (missing !== undefined) return `the plan uses ${missing}, which it does not have, in step ${step.name}`;
  }
  const sources = Object.values(pipeline.outputs).map(({ from }) => from);
  const lost = sources.find(({ step, output }) => !hasKey(known.get(step)?.outputs, output));
  return lost && `the plan delivers ${lost.step}.${lost.output}, which it does not have`;
}

function findMissing(
  { inputs, needs }: Step,
  { known, volumes }: { readonly known: ReadonlyMap<string, Step>; readonly volumes: object },
): string | undefined {
  for (const { from } of Object.values(inputs)) {
    if ('volume' in from ? !hasKey(volumes, from.volume) : !hasKey(known.get(from.step)?.outputs, from.output)) {
      return 'volume' in from ? `volume ${from.volume}` : `${from.step}.${from.output}`;
    }
  }
  return needs.find(({ step }) => !known.has(step))?.step;
}

function hasKey(record: object | undefined, key: string): boolean {
  return record !== undefined && Object.hasOwn(record, key);
}
