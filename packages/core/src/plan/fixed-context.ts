import { toCel } from '../expressions/cel-values.ts';
import { findDoubles, mergeDoubles } from '../expressions/doubles.ts';
import { own } from '../model/own.ts';
import type { Plan } from '../model/plan.ts';
import { declaredDoubles } from './param-doubles.ts';

type FixedContext = Readonly<Record<'params' | 'bound', ReadonlyMap<string, unknown>>>;

// Converted once per plan: a list of ten thousand items would otherwise be copied for each of ten thousand cells.
const REMEMBERED = new WeakMap<Omit<Plan, 'steps'>, FixedContext>();

/** What expressions see of a plan before any step has run. */
export function fixedContext(plan: Omit<Plan, 'steps'>): FixedContext {
  const known = REMEMBERED.get(plan) ?? createContext(plan);
  REMEMBERED.set(plan, known);
  return known;
}

/** Takes the context of a plan for another one with the same pipeline and parameters. */
export function shareFixedContext(from: Omit<Plan, 'steps'>, to: Plan): void {
  REMEMBERED.set(to, fixedContext(from));
}

function createContext({ pipeline, params, paramDoubles }: Omit<Plan, 'steps'>): FixedContext {
  const typed = Object.entries(params).map(([name, value]) => {
    const param = own(pipeline.params, name);
    const declared = param && declaredDoubles(param);
    return [name, toCel(value, mergeDoubles([declared, own(paramDoubles, name), findDoubles([value])]))] as const;
  });
  const bound = Object.entries(pipeline.bound ?? {}).map(
    ([name, { value, doubles }]) => [name, toCel(value, doubles)] as const,
  );
  return { params: new Map(typed), bound: new Map(bound) };
}
