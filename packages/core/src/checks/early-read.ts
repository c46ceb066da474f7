import type { Need } from '../model/pipeline.ts';
import type { CheckedStep } from './check-context.ts';

/** A read of something that exists only after a service has ended; `what` describes it, for example `outputs`. */
interface Read {
  readonly of: CheckedStep;
  readonly by: CheckedStep;
  readonly what: string;
}

const conditions = new WeakMap<readonly Need[], ReadonlyMap<string, Need['condition']>>();

/** By step; computed once, because a step may read from thousands. */
function conditionsOf(needs: readonly Need[]): ReadonlyMap<string, Need['condition']> {
  const before = conditions.get(needs);
  if (before !== undefined) return before;
  const found = new Map([...needs].reverse().map(({ step, condition }) => [step, condition]));
  conditions.set(needs, found);
  return found;
}

/** The fault of a step that reads from a service and starts while it runs; undefined if the step waits for its end. */
export function findEarlyRead({ of, by, what }: Read) {
  const { name, service } = of.step;
  if (service === undefined || of.final !== by.final) return undefined;
  const condition = conditionsOf(by.step.needs).get(name) ?? 'succeeded';
  if (condition !== 'succeeded' && condition !== 'running') return undefined;
  return {
    code: 'conflicting-need',
    message: `step \`${by.step.name}\` starts while service \`${name}\` is running, before its ${what} exist`,
    hint: `wait until it has ended: needs: { ${name}: completed }`,
  } as const;
}
