import type { CheckedStep } from './check-context.ts';

/** A read of what is there only when a service has ended; `what` in words, as `outputs`. */
interface Read {
  readonly of: CheckedStep;
  readonly by: CheckedStep;
  readonly what: string;
}

/** The fault of a step that reads from a service and starts while that runs; undefined for one that waits for its end. */
export function findEarlyRead({ of, by, what }: Read) {
  const { name, service } = of.step;
  if (service === undefined || of.final !== by.final) return undefined;
  const condition = by.step.needs.find((need) => need.step === name)?.condition ?? 'succeeded';
  if (condition !== 'succeeded' && condition !== 'running') return undefined;
  return {
    code: 'conflicting-need',
    message: `step \`${by.step.name}\` starts while the service \`${name}\` runs, before it has any ${what}`,
    hint: `wait for its end: needs: { ${name}: completed }`,
  } as const;
}
