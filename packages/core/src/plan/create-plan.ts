import { toCel } from '../expressions/cel.ts';
import { evaluateJson } from '../expressions/template.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Matrix, Pipeline, Step } from '../model/pipeline.ts';
import type { Cell, Plan, PlannedStep } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { showJson } from '../render/show-json.ts';
import { bindParams } from './bind-params.ts';
import { allSteps, collectDependencies } from './collect-dependencies.ts';
import { type BoundMatrix, expandMatrix } from './expand-matrix.ts';

/** Limit for the cells of a whole pipeline. */
const MAX_ALL_CELLS = 2_000_000;

/**
 * Binds parameters (strings are converted by type), expands matrices and joins the edges. The error contains all
 * faults. Shares data with `pipeline`, which must not be changed afterward.
 */
export function createPlan(
  pipeline: Pipeline,
  options: { readonly params?: Readonly<Record<string, Json>> } = {},
): Result<Plan, readonly Diagnostic[]> {
  const params = bindParams(pipeline, options.params ?? {});
  if (!params.ok) return params;
  const context = { params: paramsToCel(pipeline, params.value) };
  const dependencies = collectDependencies(pipeline);
  const faults: Diagnostic[] = [];
  const steps: PlannedStep[] = [];
  let total = 0;
  for (const step of allSteps(pipeline)) {
    const cells = cellsOf(step, context);
    if (!cells.ok)
      faults.push({ code: 'bad-matrix', severity: 'error', message: `step \`${step.name}\`: ${cells.error}` });
    const index = steps.length;
    const expanded = cells.ok ? cells.value : undefined;
    total += expanded?.length ?? 1;
    const final = index >= pipeline.steps.length;
    steps.push({ index, step, final, dependencies: dependencies[index] ?? [], cells: expanded });
  }
  if (total > MAX_ALL_CELLS) {
    const message = `pipeline \`${pipeline.name}\` has ${total} cells; the maximum is ${MAX_ALL_CELLS}`;
    faults.push({ code: 'bad-matrix', severity: 'error', message });
  }
  return faults.length === 0 ? ok({ pipeline, params: params.value, steps }) : fail(faults);
}

/** Parameters as expressions see them: one of type `number` is a double even if its value is whole. */
export function paramsToCel(pipeline: Pipeline, params: Readonly<Record<string, Json>>): ReadonlyMap<string, unknown> {
  return new Map(
    Object.entries(params).map(([name, value]) => {
      const param = Object.hasOwn(pipeline.params, name) ? own(pipeline.params, name) : undefined;
      return [name, param?.type === 'number' ? toCel(value, { number: true }) : toCel(value)];
    }),
  );
}

const PLAIN: readonly Cell[] = Object.freeze([Object.freeze({ key: '', matrix: Object.freeze({}) })]);

function cellsOf(step: Step, context: Readonly<Record<string, unknown>>): Result<readonly Cell[] | undefined, string> {
  if (step.foreach !== undefined) return ok(undefined);
  if (step.matrix === undefined) return ok(PLAIN);
  const bound = bindMatrix(step.matrix, context);
  return bound.ok ? expandMatrix(bound.value) : bound;
}

function bindMatrix(matrix: Matrix, context: Readonly<Record<string, unknown>>): Result<BoundMatrix, string> {
  const axes: Record<string, readonly Json[]> = {};
  for (const [axis, template] of Object.entries(matrix.axes)) {
    const value = evaluateJson(template, () => context);
    if (!value.ok) return fail(`axis \`${axis}\` of its matrix: ${value.error}`);
    if (!Array.isArray(value.value))
      return fail(`axis \`${axis}\` of its matrix is ${showJson(value.value)} instead of a list`);
    if (value.value.length === 0)
      return fail(`axis \`${axis}\` of its matrix is an empty list; use \`foreach\` for a list that may be empty`);
    axes[axis] = value.value;
  }
  const include = evaluateJson(matrix.include, () => context);
  if (!include.ok) return fail(`\`include\` of its matrix: ${include.error}`);
  const exclude = evaluateJson(matrix.exclude, () => context);
  if (!exclude.ok) return fail(`\`exclude\` of its matrix: ${exclude.error}`);
  return ok({ axes, include: include.value, exclude: exclude.value } as BoundMatrix);
}
