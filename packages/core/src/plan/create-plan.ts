import { findLabelFaults } from '../checks/find-label-faults.ts';
import { toCel } from '../expressions/cel-values.ts';
import { createDoubles, type Doubles, findDoubles, mergeDoubles } from '../expressions/doubles.ts';
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
import { declaredDoubles } from './param-doubles.ts';

/** Limit for the cells of a whole pipeline. */
const MAX_ALL_CELLS = 2_000_000;

/** What a run adds to its pipeline, each by name. */
export interface PlanOptions {
  readonly params?: Readonly<Record<string, Json>>;
  /** They are added to the labels of the pipeline, and replace those of the same name. */
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * Binds parameters (strings are converted by type), expands matrices and joins the edges. The error contains all
 * faults. Shares data with the pipeline, which must not be changed afterward.
 */
export function createPlan(given: Pipeline, options: PlanOptions = {}): Result<Plan, readonly Diagnostic[]> {
  const labeled = addLabels(given, options.labels);
  if (!labeled.ok) return labeled;
  const pipeline = labeled.value;
  const bound = bindParams(pipeline, options.params ?? {});
  if (!bound.ok) return bound;
  const { values: params, doubles } = bound.value;
  const paramDoubles = Object.keys(doubles).length === 0 ? {} : { paramDoubles: doubles };
  const context = fixedContext({ pipeline, params, ...paramDoubles });
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
  return faults.length === 0 ? ok({ pipeline, params, ...paramDoubles, steps }) : fail(faults);
}

function addLabels(pipeline: Pipeline, labels: PlanOptions['labels']): Result<Pipeline, readonly Diagnostic[]> {
  if (labels === undefined) return ok(pipeline);
  const all = { ...pipeline.labels, ...labels };
  const [fault] = findLabelFaults(all);
  if (fault === undefined) return ok({ ...pipeline, labels: all });
  const { code, message, hint } = fault;
  return fail([{ code, severity: 'error', message, ...(hint !== undefined && { hint }) }]);
}

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

const PLAIN: readonly Cell[] = Object.freeze([Object.freeze({ key: '', matrix: Object.freeze({}) })]);

function cellsOf(step: Step, context: Readonly<Record<string, unknown>>): Result<readonly Cell[] | undefined, string> {
  if (step.foreach !== undefined) return ok(undefined);
  if (step.matrix === undefined) return ok(PLAIN);
  const bound = bindMatrix(step.matrix, context);
  return bound.ok ? expandMatrix(bound.value) : bound;
}

function bindMatrix(matrix: Matrix, context: Readonly<Record<string, unknown>>): Result<BoundMatrix, string> {
  const axes: Record<string, readonly Json[]> = {};
  const typed: [string, Doubles][] = [];
  for (const [axis, template] of Object.entries(matrix.axes)) {
    const evaluated = evaluateJson(template, () => context);
    if (!evaluated.ok) return fail(`axis \`${axis}\` of its matrix: ${evaluated.error}`);
    const { value, doubles } = evaluated.value;
    if (!Array.isArray(value)) return fail(`axis \`${axis}\` of its matrix is ${showJson(value)} instead of a list`);
    if (value.length === 0)
      return fail(`axis \`${axis}\` of its matrix is an empty list; use \`foreach\` for a list that may be empty`);
    axes[axis] = value;
    if (doubles?.items !== undefined) typed.push([axis, doubles.items]);
  }
  const include = evaluateJson(matrix.include, () => context);
  if (!include.ok) return fail(`\`include\` of its matrix: ${include.error}`);
  const exclude = evaluateJson(matrix.exclude, () => context);
  if (!exclude.ok) return fail(`\`exclude\` of its matrix: ${exclude.error}`);
  return ok({
    ...{ axes, include: include.value.value, exclude: exclude.value.value },
    doubles: mergeDoubles([createDoubles({ keys: typed }), include.value.doubles?.items]),
  } as BoundMatrix);
}
