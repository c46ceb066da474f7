import { toCel } from '../expressions/cel-values.ts';
import { findDoubles, mergeDoubles } from '../expressions/doubles.ts';
import { own } from '../model/own.ts';
import type { Plan } from '../model/plan.ts';
import { declaredDoubles } from './param-doubles.ts';

/** What expressions see of a plan before any step has run. */
export function fixedContext({
  pipeline,
  params,
  paramDoubles,
}: Omit<Plan, 'steps'>): Readonly<Record<'params' | 'bound', ReadonlyMap<string, unknown>>> {
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
