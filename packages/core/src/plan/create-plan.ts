import { expandEach } from '../axes/expand-each.ts';
import { namedAxes } from '../axes/listed-axes.ts';
import { type CellMatch, isMatched, matchCells } from '../axes/match-cells.ts';
import { type AxisFiles, planAxes } from '../axes/plan-axes.ts';
import { findValueFaults } from '../axes/values-of-cell.ts';
import { findLabelFaults } from '../checks/find-label-faults.ts';
import { createDoubles, type Doubles, mergeDoubles } from '../expressions/doubles.ts';
import { evaluateJson } from '../expressions/template.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Input, Matrix, Pipeline, Step } from '../model/pipeline.ts';
import type { Cell, Plan, PlannedAxis, PlannedStep } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { showJson } from '../render/show-json.ts';
import { allSteps } from './all-steps.ts';
import { bindParams } from './bind-params.ts';
import { collectDependencies } from './collect-dependencies.ts';
import { type BoundMatrix, expandMatrix } from './expand-matrix.ts';
import { fixedContext, shareFixedContext } from './fixed-context.ts';

/** Limit for the cells of a whole pipeline. */
const MAX_ALL_CELLS = 2_000_000;

/** What a run adds to its pipeline, each by name. */
export interface PlanOptions {
  readonly params?: Readonly<Record<string, Json>>;
  /** They are added to the labels of the pipeline, and replace those of the same name. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The files of axes over the files of a source. */
  readonly files?: AxisFiles;
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
  const unplanned = { pipeline, params, ...paramDoubles };
  const context = fixedContext(unplanned);
  const axes = planAxes(pipeline, context, options.files);
  if (!axes.ok) return axes;
  const dependencies = collectDependencies(pipeline);
  const faults: Diagnostic[] = [];
  const expand = createExpansion({ context, pipeline, axes: axes.value });
  const steps: PlannedStep[] = [];
  let total = 0;
  for (const step of allSteps(pipeline)) {
    const cells = expand(step);
    if (!cells.ok) {
      const code = step.each === undefined ? 'bad-matrix' : 'bad-axis';
      faults.push({ code, severity: 'error', message: `step \`${step.name}\`: ${cells.error}` });
    }
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
  if (faults.length > 0) return fail(faults);
  const plan = { ...unplanned, ...(pipeline.axes && { axes: axes.value }), steps };
  shareFixedContext(unplanned, plan);
  const unmatched = [...findMatchFaults(plan), ...findValueFaults(plan)];
  return unmatched.length === 0 ? ok(plan) : fail(unmatched);
}

function findMatchFaults(plan: Plan): readonly Diagnostic[] {
  const faults: Diagnostic[] = [];
  for (const reader of plan.steps) {
    for (const dependency of reader.dependencies) {
      const input = own(reader.step.inputs, dependency.input ?? '');
      // Without `where`, every cell can be matched.
      if (input?.where === undefined || !isMatched(reader, plan.steps[dependency.on]!)) continue;
      const matched = matchCells(plan, reader, dependency);
      const fault = matched.ok ? findPathOfList(input, matched.value) : matched.error;
      if (fault === undefined) continue;
      const message = `step \`${reader.step.name}\`: ${fault}`;
      faults.push({ code: 'unknown-item', severity: 'error', message });
    }
  }
  return faults;
}

/** Whether `where` yields a list is known only when it is evaluated. */
function findPathOfList({ from }: Input, { isSingle }: CellMatch): string | undefined {
  if (isSingle || 'volume' in from || from.path === undefined) return undefined;
  return `\`where\` names a list of cells of \`${from.step}\`, so no path in one of them can be mounted`;
}

function addLabels(pipeline: Pipeline, labels: PlanOptions['labels']): Result<Pipeline, readonly Diagnostic[]> {
  if (labels === undefined) return ok(pipeline);
  const all = { ...pipeline.labels, ...labels };
  const [fault] = findLabelFaults(all);
  if (fault === undefined) return ok({ ...pipeline, labels: all });
  const { code, message, hint } = fault;
  return fail([{ code, severity: 'error', message, ...(hint !== undefined && { hint }) }]);
}

const PLAIN: readonly Cell[] = Object.freeze([Object.freeze({ key: '', matrix: Object.freeze({}) })]);

interface Expansion {
  readonly pipeline: Pipeline;
  readonly context: Readonly<Record<string, unknown>>;
  readonly axes: Readonly<Record<string, PlannedAxis>>;
}

/** Steps with the same axes share their cells. */
function createExpansion(given: Expansion): (step: Step) => Result<readonly Cell[] | undefined, string> {
  const known = new Map<string, Result<readonly Cell[], string>>();
  return (step) => {
    if (step.each === undefined) return cellsOf(step, given);
    const key = step.each.join();
    const cells = known.get(key) ?? expandEach(given.axes, namedAxes(given.pipeline, step.each));
    known.set(key, cells);
    return cells;
  };
}

function cellsOf(step: Step, { context }: Expansion): Result<readonly Cell[] | undefined, string> {
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
