import type { KeyValues } from '../axes/cell-values.ts';
import { toCel } from '../expressions/cel-values.ts';
import { type Doubles, findDoubles, hidesDoubles, mergeDoubles } from '../expressions/doubles.ts';
import { evaluateTogether } from '../expressions/evaluation-scope.ts';
import { compileTemplate, evaluateJson, toText } from '../expressions/template.ts';
import type { Json } from '../model/json.ts';
import type { Step } from '../model/pipeline.ts';
import type { Cell, Plan } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { RunContext } from '../model/run-context.ts';
import { givenKey, itemKey, uniqueKeys } from '../plan/cell-key.ts';
import { MAX_CELLS } from '../plan/expand-matrix.ts';
import { showJson } from '../render/show-json.ts';
import { type ContextFor, evaluateValue } from './evaluate.ts';
import { expressionContext } from './expression-context.ts';
import { resolveLateValues } from './resolve-late-values.ts';

/** Whether a step runs, and with which cells. */
export interface Decision {
  /** False if `when` is false: the step is skipped. */
  readonly run: boolean;
  /** For a `foreach` step that runs: its cells, possibly none. */
  readonly cells?: readonly Cell[];
  /** Of a step that runs and has values which the plan does not know: those of each decided cell. */
  readonly values?: readonly KeyValues[];
}

/** `cell` only for a step with `each`, whose cells are decided one by one. `index` is its number. */
type DecisionContext = RunContext & { readonly cell?: Cell; readonly index?: number };

/** Evaluates `when`, `foreach` and the values of cells of a step. The error says which one failed, and why. */
export function resolveDecision(plan: Plan, step: number, context: DecisionContext): Result<Decision, string> {
  return evaluateTogether(plan, () => {
    const decision = decide(plan, step, context);
    if (!decision.ok || !decision.value.run) return decision;
    const { cell, index = 0 } = context;
    const cells = cell ? [cell] : (decision.value.cells ?? plan.steps[step]!.cells ?? []);
    const values = resolveLateValues(plan, step, { cells, first: index, context });
    return values.ok ? ok({ ...decision.value, ...(values.value && { values: values.value }) }) : values;
  });
}

function decide(plan: Plan, step: number, context: DecisionContext): Result<Decision, string> {
  const planned = plan.steps[step]?.step;
  if (planned === undefined) throw new RangeError(`the plan of ${plan.pipeline.name} has no step ${step}`);
  const { cell } = context;
  const contextFor = expressionContext(plan, context, { step, ...(cell && { cell }) });
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
  const { foreach } = planned;
  const what = `\`foreach\` of step \`${planned.name}\``;
  const list = evaluateJson(foreach, contextFor);
  if (!list.ok) return fail(`${what} cannot be evaluated: ${list.error}`);
  const items = list.value.value;
  const given = typeof foreach === 'string' ? `${of('foreach', foreach)} yields` : `${what} has`;
  if (!Array.isArray(items)) return fail(`${given} ${showJson(items)} instead of a list`);
  if (items.length > MAX_CELLS) {
    return fail(`${given} ${items.length} items, and a step may have ${MAX_CELLS} cells`);
  }
  const doubles = mergeDoubles([list.value.doubles?.items, findDoubles(items)]);
  const named = nameItems(planned, { items, doubles }, contextFor);
  if (!named.ok) return named;
  const keys = uniqueKeys(named.value, (index) => items[index] ?? null);
  const cells = items.map((item: Json, index) => ({
    key: keys[index] ?? '',
    matrix: {},
    item,
    ...(hidesDoubles(item, doubles) && { doubles: { item: doubles! } }),
  }));
  return ok({ run: true, cells });
}

/** A key per item, not necessarily unique: from the step's own expression, else from the item. */
function nameItems(
  { name, foreachKey }: Step,
  { items, doubles }: { readonly items: readonly Json[]; readonly doubles: Doubles | undefined },
  contextFor: ContextFor,
): Result<readonly string[], string> {
  if (foreachKey === undefined) return ok(items.map(itemKey));
  const what = `\`foreach.key\` of step \`${name}\``;
  const compiled = compileTemplate(foreachKey);
  if (!compiled.ok) return fail(`${what} cannot be read: ${compiled.error.message}`);
  const context = contextFor(compiled.value.references);
  const keys: string[] = [];
  for (const [index, item] of items.entries()) {
    const value = compiled.value.evaluate({ ...context, item: toCel(item, doubles) });
    if (!value.ok) return fail(`${what} cannot be evaluated for item ${index + 1}: ${value.error}`);
    keys.push(givenKey(toText(value.value), item));
  }
  return ok(keys);
}
