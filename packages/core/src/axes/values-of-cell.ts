import { toCel } from '../expressions/cel-values.ts';
import { compileTemplate, toText } from '../expressions/template.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import type { Resources, Step, Template } from '../model/pipeline.ts';
import type { Cell, Plan, PlannedStep } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { fixedContext } from '../plan/fixed-context.ts';
import { showJson } from '../render/show-json.ts';
import { parseDuration } from '../schema/duration.ts';
import { DURATION, SIZE } from '../schema/patterns.ts';
import { parseSize } from '../schema/size.ts';
import { itemsOf } from './items-of.ts';

/** What can be different for each cell of a step. */
export type CellValues = Pick<Step, 'timeoutMs' | 'queueTimeoutMs' | 'deadlineMs' | 'priority' | 'resources'>;

/**
 * The values of one cell, or of the whole step if they have no expressions. A `foreach` step, whose cells are unknown, has
 * the same for all. Throws if they cannot be evaluated, which `createPlan` excludes.
 */
export function valuesOfCell(plan: Plan, step: number, cell: number): CellValues {
  const planned = plan.steps[step]!;
  if (planned.step.perCell === undefined) return planned.step;
  const all = evaluateStep(plan, planned);
  if (!all.ok) throw new Error(`step ${planned.step.name}${all.error}`);
  return all.value[cell] ?? all.value[0] ?? planned.step;
}

/** The different requests of the cells of a step. */
export function resourcesOfCells(plan: Plan, step: number): readonly Resources[] {
  const { step: declared, cells = [] } = plan.steps[step]!;
  if (declared.perCell?.resources === undefined) return [declared.resources ?? {}];
  const found = new Map<string, Resources>();
  for (let cell = 0; cell < Math.max(1, cells.length); cell++) {
    const { resources = {} } = valuesOfCell(plan, step, cell);
    found.set(JSON.stringify(resources), resources);
  }
  return [...found.values()];
}

/** A fault for each step of which the values of a cell cannot be evaluated. */
export function findValueFaults(plan: Plan): readonly Diagnostic[] {
  return plan.steps.flatMap((planned): readonly Diagnostic[] => {
    const evaluated = planned.step.perCell === undefined ? undefined : evaluateStep(plan, planned);
    if (evaluated === undefined || evaluated.ok) return [];
    const message = `step \`${planned.step.name}\`${evaluated.error}`;
    return [{ code: 'wrong-value', severity: 'error', message }];
  });
}

const REMEMBERED = new WeakMap<Plan, Map<number, Result<readonly CellValues[], string>>>();

function evaluateStep(plan: Plan, planned: PlannedStep): Result<readonly CellValues[], string> {
  const ofPlan = REMEMBERED.get(plan) ?? new Map<number, Result<readonly CellValues[], string>>();
  REMEMBERED.set(plan, ofPlan);
  const values = ofPlan.get(planned.index) ?? evaluateCells(plan, planned);
  ofPlan.set(planned.index, values);
  return values;
}

const ANY_CELL: readonly Cell[] = [{ key: '', matrix: {} }];

function evaluateCells(plan: Plan, { step, cells = ANY_CELL }: PlannedStep): Result<readonly CellValues[], string> {
  const keys = createKeys(step.perCell ?? {});
  const fixed = fixedContext(plan);
  const all: CellValues[] = [];
  for (const cell of cells) {
    const each = { each: itemsOf(plan.axes ?? {}, cell), matrix: toCel(cell.matrix, cell.doubles?.matrix) };
    const values = evaluateCell(step, keys, { ...fixed, ...each });
    if (!values.ok) return fail(`${cell.key === '' ? '' : `, cell ${cell.key}`}: ${values.error}`);
    all.push(values.value);
  }
  return ok(all);
}

/** One expression of a step, and what it sets. */
interface Key {
  readonly name: string;
  readonly evaluate: (context: Readonly<Record<string, unknown>>) => Result<Json, string>;
  readonly set: (value: Json) => Result<Partial<CellValues>, string>;
}

function evaluateCell(
  step: Step,
  keys: readonly Key[],
  context: Readonly<Record<string, unknown>>,
): Result<CellValues, string> {
  const { timeoutMs, queueTimeoutMs, deadlineMs, priority, resources } = step;
  const given = { timeoutMs, queueTimeoutMs, deadlineMs, resources };
  let values = {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    priority,
  } as CellValues;
  for (const { name, evaluate, set } of keys) {
    const value = evaluate(context);
    if (!value.ok) return fail(`\`${name}\` cannot be evaluated: ${value.error}`);
    const found = set(value.value);
    if (!found.ok) return fail(`\`${name}\` yields ${showJson(value.value)}, ${found.error}`);
    const merged = { ...values.resources, ...found.value.resources };
    values = { ...values, ...found.value, ...(Object.keys(merged).length > 0 && { resources: merged }) };
  }
  if (values.deadlineMs !== undefined && values.timeoutMs !== undefined && values.deadlineMs < values.timeoutMs)
    return fail('`deadline` (for all attempts together) is shorter than `timeout` (for one attempt)');
  return ok(values);
}

function createKeys({
  timeout,
  queueTimeout,
  deadline,
  priority,
  resources = {},
}: NonNullable<Step['perCell']>): Key[] {
  const { cpu, memory, gpu, gpuModel } = resources;
  return [
    ...keyOf(
      'timeout',
      timeout,
      toDuration((timeoutMs) => ({ timeoutMs })),
    ),
    ...keyOf(
      'queueTimeout',
      queueTimeout,
      toDuration((queueTimeoutMs) => ({ queueTimeoutMs })),
    ),
    ...keyOf(
      'deadline',
      deadline,
      toDuration((deadlineMs) => ({ deadlineMs })),
    ),
    ...keyOf('priority', priority, (value) =>
      Number.isSafeInteger(value) ? ok({ priority: value as number }) : fail('which is not an integer'),
    ),
    ...keyOf('resources.cpu', cpu, (value) =>
      typeof value === 'number' && value > 0
        ? ok({ resources: { cpu: value } })
        : fail('which is not a positive number'),
    ),
    ...keyOf('resources.memory', memory, (value) =>
      typeof value === 'string' && SIZE.test(value)
        ? ok({ resources: { memoryBytes: parseSize(value) } })
        : fail('which is not a size with its unit, for example 4GiB'),
    ),
    ...keyOf('resources.gpu', gpu, (value) =>
      Number.isSafeInteger(value) && (value as number) >= 0
        ? ok({ resources: { gpu: value as number } })
        : fail('which is not a number of GPUs'),
    ),
    ...keyOf('resources.gpuModel', gpuModel, (value) => ok({ resources: { gpuModel: toText(value) } })),
  ];
}

function keyOf(name: string, template: Template | undefined, set: Key['set']): readonly Key[] {
  if (template === undefined) return [];
  const compiled = compileTemplate(template);
  return [{ name, set, evaluate: compiled.ok ? compiled.value.evaluate : () => fail(compiled.error.message) }];
}

function toDuration(set: (milliseconds: number) => Partial<CellValues>): Key['set'] {
  return (value) => {
    if (typeof value !== 'string' || !DURATION.test(value))
      return fail('which is not a duration with its unit, for example 90s or 2h');
    const milliseconds = parseDuration(value);
    return milliseconds > 0 ? ok(set(milliseconds)) : fail('but must be greater than 0');
  };
}
