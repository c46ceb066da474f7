import type { Cell, Plan } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { RunContext } from '../model/run-context.ts';
import { itemKey, uniqueKeys } from '../plan/cell-key.ts';
import { MAX_CELLS } from '../plan/expand-matrix.ts';
import { showJson } from '../render/show-json.ts';
import { evaluateValue } from './evaluate.ts';
import { expressionContext } from './expression-context.ts';

export interface Decision {
  /** False: `when` does not hold, the step is skipped. */
  readonly run: boolean;
  /** Of a `foreach` step that runs: its cells, possibly none. */
  readonly cells?: readonly Cell[];
}

/** Evaluates a step's `when` and `foreach`. The error says which could not be evaluated, and why. */
export function resolveDecision(plan: Plan, step: number, context: RunContext): Result<Decision, string> {
  const planned = plan.steps[step]?.step;
  if (planned === undefined) throw new RangeError(`the plan of ${plan.pipeline.name} has no step ${step}`);
  const contextFor = expressionContext(plan, context, { step });
  const of = (key: string, template: string): string => `\`${key}\` of step \`${planned.name}\`, ${template.trim()},`;
  if (planned.when !== undefined) {
    const when = evaluateValue(planned.when, `\`when\` of step \`${planned.name}\``, contextFor);
    if (!when.ok) return when;
    if (typeof when.value !== 'boolean') {
      return fail(`${of('when', planned.when)} yields ${showJson(when.value)} instead of true or false`);
    }
    if (!when.value) return ok({ run: false });
  }
  if (planned.foreach === undefined) return ok({ run: true });
  const list = evaluateValue(planned.foreach, `\`foreach\` of step \`${planned.name}\``, contextFor);
  if (!list.ok) return list;
  const items = list.value;
  if (!Array.isArray(items))
    return fail(`${of('foreach', planned.foreach)} yields ${showJson(items)} instead of a list`);
  if (items.length > MAX_CELLS) {
    return fail(
      `${of('foreach', planned.foreach)} yields ${items.length} items, and a step may have ${MAX_CELLS} cells`,
    );
  }
  const keys = uniqueKeys(items.map(itemKey), (index) => items[index] ?? null);
  return ok({ run: true, cells: items.map((item, index) => ({ key: keys[index] ?? '', matrix: {}, item })) });
}
