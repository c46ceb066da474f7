import { listedSteps } from '../axes/batches.ts';
import { listItems } from '../axes/plan-axes.ts';
import { hidesDoubles } from '../expressions/doubles.ts';
import { evaluateTogether } from '../expressions/evaluation-scope.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { ListedItem, Plan } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { fixedContext } from '../plan/fixed-context.ts';
import { resultToCel } from './expression-context.ts';

/** The items that one cell of a step has listed, by axis. */
export type Lists = Readonly<Record<string, readonly ListedItem[]>>;

/** The lists of a cell by its results; empty for a step that lists nothing. The error says which list is wrong, and why. */
export function resolveLists(plan: Plan, step: number, results: Readonly<Record<string, Json>>): Result<Lists, string> {
  const listed = listedSteps(plan).get(step) ?? [];
  return listed.length === 0 ? ok({}) : evaluateTogether(plan, () => evaluateLists(plan, step, results));
}

function evaluateLists(plan: Plan, step: number, results: Readonly<Record<string, Json>>): Result<Lists, string> {
  const planned = plan.steps[step]!;
  const values = Object.entries(results).map(([name, value]) => [name, resultToCel(planned, name, value)] as const);
  const facts = new Map([['results', new Map(values)]]);
  const context = { ...fixedContext(plan), steps: new Map([[planned.step.name, facts]]) };
  const lists: Record<string, readonly ListedItem[]> = {};
  for (const { axis } of listedSteps(plan).get(step) ?? []) {
    const list = listItems(own(plan.pipeline.axes ?? {}, axis)!, context);
    if (!list.ok) return fail(`axis \`${axis}\`: ${list.error}`);
    const { keys, items, doubles } = list.value;
    lists[axis] = items.map((item, index) => ({
      ...{ key: keys[index]!, item },
      ...(hidesDoubles(item, doubles) && { doubles: doubles! }),
    }));
  }
  return ok(lists);
}
