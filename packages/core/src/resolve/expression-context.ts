import { itemsOf } from '../axes/items-of.ts';
import { toCel } from '../expressions/cel-values.ts';
import { spendValue } from '../expressions/evaluation-scope.ts';
import type { Reference } from '../expressions/reference.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Cell, Plan, PlannedStep } from '../model/plan.ts';
import type { RunContext } from '../model/run-context.ts';
import { fixedContext } from '../plan/fixed-context.ts';

/** The context of expressions at one place. Only the steps that they name are looked up. */
export function expressionContext(
  plan: Plan,
  context: RunContext,
  options: { readonly step?: number; readonly cell?: Cell; readonly env?: Readonly<Record<string, string>> },
): (references: readonly Reference[]) => Readonly<Record<string, unknown>> {
  const step = options.step === undefined ? undefined : plan.steps[options.step]?.step;
  const { cell } = options;
  const make = () => ({
    run: new Map(Object.entries(context.run).filter(([, value]) => value !== undefined)),
    attempt: BigInt(context.attempt),
    ...(cell?.each !== undefined && plan.axes && { each: itemsOf(plan.axes, cell) }),
    matrix: toCel(cell?.matrix ?? {}, cell?.doubles?.matrix),
    ...(cell?.item !== undefined && { item: toCel(cell.item, cell.doubles?.item) }),
    inputs: paths(step?.inputs),
    outputs: paths(step?.outputs),
    env: new Map(Object.entries(options.env ?? {})),
    ...(context.secrets && { secrets: new Map(Object.entries(context.secrets)) }),
    ...fixedContext(plan),
  });
  // Lazy, because most texts have no expression.
  let made: ReturnType<typeof make> | undefined;
  /** Converted once: a result can be a list of a hundred thousand items, and a container can have thousands of expressions. */
  const converted = new Map<string, ReadonlyMap<string, unknown>>();
  const factsOf = (name: string, aspects: readonly (string | undefined)[]): ReadonlyMap<string, unknown> => {
    const key = JSON.stringify([name, [...new Set(aspects)].sort()]);
    const facts = converted.get(key) ?? factsToCel(plan, name, { context, aspects });
    converted.set(key, facts);
    return facts;
  };
  return (references) => {
    made ??= make();
    const known = made;
    if (!references.some(({ root }) => root === 'steps')) return known;
    const steps = new Map<string, unknown>();
    for (const { root, keys } of references) {
      const [name] = keys;
      if (root !== 'steps' || name === undefined || steps.has(name)) continue;
      const aspects = references
        .filter((one) => one.root === 'steps' && one.keys[0] === name)
        .map((one) => one.keys[1]);
      steps.set(name, factsOf(name, aspects));
    }
    return { steps, ...known };
  };
}

function paths(mounts: Readonly<Record<string, { readonly path: string }>> = {}): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(mounts).map(([name, { path }]) => [name, new Map([['path', path]])]));
}

/** `aspects` are the keys after the step's name; undefined for an expression that uses the whole step. */
function factsToCel(
  plan: Plan,
  name: string,
  { context, aspects }: { readonly context: RunContext; readonly aspects: readonly (string | undefined)[] },
): ReadonlyMap<string, unknown> {
  const facts = context.steps(name);
  if (facts === undefined) return new Map();
  const wants = (wanted: string): boolean => aspects.some((aspect) => aspect === undefined || aspect === wanted);
  const planned = plan.steps.find(({ step }) => step.name === name);
  const results = (wants('results') ? Object.entries(facts.results) : []).map(([key, value]) => {
    return [key, resultToCel(planned, key, value)] as const;
  });
  return new Map<string, unknown>([
    ['status', facts.status],
    ['reason', wants('reason') ? (facts.reason ?? '') : ''],
    ['reused', facts.reused ?? false],
    ['results', new Map(results)],
    ['ports', toCel((facts.ports ?? {}) as unknown as Json)],
    ['outputs', wants('outputs') ? toCel(facts.outputs ?? {}) : new Map()],
  ]);
}

/** The value of a result, or of a step with cells the list of their values. */
export function resultToCel(planned: PlannedStep | undefined, name: string, value: Json): unknown {
  spendValue(value);
  const declared = { number: true, items: { number: true } } as const;
  return own(planned?.step.results, name)?.type === 'number' ? toCel(value, declared) : toCel(value);
}
