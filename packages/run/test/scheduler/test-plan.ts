import type { Cell, NeedCondition, Pipeline, Plan, PlannedAxis, PlannedStep, Retry, Step } from '@sluice/core';

/** What a test says of a step; everything else is a default. */
export interface TestStep extends Partial<Omit<Step, 'retry' | 'needs'>> {
  /**
   * Names of steps, with `:condition` where it is not `succeeded`, `!` at the end for a mounted output, and `?name` for one
   * that is mounted by an input with rules of its own: `a:failed`, `b!`, `c?in`.
   */
  readonly after?: readonly string[];
  /** Number of cells; `'foreach'` for known only at run time. */
  readonly cells?: number | 'foreach';
  readonly final?: boolean;
  readonly retry?: Partial<Retry>;
}

const RETRY: Retry = {
  limit: 0,
  on: ['infrastructure'],
  backoff: { initialMs: 1000, factor: 2, maxMs: 60_000 },
  escalate: [],
  infrastructure: 0,
};

/** `x` and `y` are independent; an item of `z` implies one of `x`, and of `g`, which `x` implies for some of its items. */
const TEST_AXES: NonNullable<Plan['axes']> = {
  x: { keys: ['x0', 'x1', 'x2'], items: [0, 1, 2], implies: { g: [0, 0, -1] } },
  y: { keys: ['y0', 'y1'], items: [0, 1], implies: {} },
  z: { keys: ['z0', 'z1', 'z2', 'z3'], items: [0, 1, 2, 3], implies: { x: [0, 0, 1, 2], g: [0, 0, 0, -1] } },
  g: { keys: ['g0'], items: [0], implies: {} },
};
const DECLARED: NonNullable<Pipeline['axes']> = {
  x: { items: [], of: {} },
  y: { items: [], of: {} },
  z: { items: [], of: { x: 'x' } },
  g: { distinct: { axis: 'x', field: 'g' }, of: {} },
};

/** The axis `l`: its items are listed by the cells of a step. */
function listedAxis(name: string, cells: readonly Cell[]): NonNullable<Plan['axes']>[string] {
  const axes = Object.keys(TEST_AXES).filter((axis) => cells.some(({ each }) => each?.[axis] !== undefined));
  return {
    keys: cells.map(() => '*'),
    items: cells.map(() => null),
    implies: Object.fromEntries(axes.map((axis) => [axis, cells.map(({ each }) => each![axis] ?? -1)])),
    listedBy: name,
  };
}

/**
 * A plan of the given steps, in their order; those of `finally` must come last. They may have the axes of `TEST_AXES`, and `l`
 * after the step that has the result `l`.
 */
export function testPlan(
  steps: Readonly<Record<string, TestStep>>,
  pipeline: Partial<Pipeline> = {},
  /** The `parallelism` of axes. */
  limits: Readonly<Record<string, number>> = {},
): Plan {
  const axes = Object.fromEntries(
    Object.entries(DECLARED).map(([name, axis]) => {
      const parallelism = limits[name];
      return [name, parallelism === undefined ? axis : { ...axis, parallelism }];
    }),
  );
  const numbers = new Map(Object.keys(steps).map((name, index) => [name, index]));
  const planned: Record<string, PlannedAxis> = { ...TEST_AXES };
  const all: PlannedStep[] = [];
  for (const [index, [name, { after = [], cells = 1, final = false, retry, ...step }]] of Object.entries(
    steps,
  ).entries()) {
    all.push({
      index,
      step: { ...STEP, name, ...fanOut(step.each, cells), ...step, retry: { ...RETRY, ...retry } },
      final,
      cells:
        step.each !== undefined
          ? eachCells(planned, step.each)
          : cells === 'foreach'
            ? undefined
            : Array.from({ length: cells }, (_, i): Cell => ({ key: cells === 1 ? '' : `c${i}`, matrix: {} })),
      dependencies: after.map((text) => dependency(text, numbers)).sort((a, b) => a.on - b.on),
    });
    if (step.results?.l !== undefined) planned.l = listedAxis(name, all[index]!.cells!);
  }
  const lister = planned.l?.listedBy;
  const limit = limits.l === undefined ? {} : { parallelism: limits.l };
  const listed = lister === undefined ? {} : { l: { items: `\${{ steps.${lister}.results.l }}`, of: {}, ...limit } };
  const known = lister === undefined ? [] : all.map(({ step }) => step);
  return {
    pipeline: { ...PIPELINE, steps: known, axes: { ...axes, ...listed }, ...pipeline },
    params: {},
    axes: planned,
    steps: all,
  };
}

/** The shape is as in a real plan; the cells are given beside it. */
function fanOut(each: Step['each'], cells: TestStep['cells']): Partial<Step> {
  if (each !== undefined || cells === 1) return {};
  return cells === 'foreach' ? { foreach: [] } : { matrix: { axes: {}, include: [], exclude: [] } };
}

/** The consistent combinations, found by trying all of them. */
function eachCells(axes: Readonly<Record<string, PlannedAxis>>, each: readonly string[]): Cell[] {
  let rows: Readonly<Record<string, number>>[] = [{}];
  for (const axis of each) {
    rows = rows.flatMap((row) =>
      axes[axis]!.keys.flatMap((_, item) => {
        const implied = Object.entries(axes[axis]!.implies).map(([other, items]) => [other, items[item]!] as const);
        const added = [[axis, item] as const, ...implied];
        return added.every(([other, place]) => row[other] === undefined || row[other] === place)
          ? [{ ...row, ...Object.fromEntries(added) }]
          : [];
      }),
    );
  }
  return rows.map((row) => ({
    key: each.map((axis) => axes[axis]!.keys[row[axis]!]).join(),
    matrix: {},
    each: Object.fromEntries(Object.entries(row).filter(([, item]) => item >= 0)),
  }));
}

function dependency(written: string, numbers: ReadonlyMap<string, number>) {
  const [text = '', input] = written.split('?');
  const data = text.endsWith('!') || input !== undefined;
  const [name = '', condition = 'succeeded'] = (text.endsWith('!') ? text.slice(0, -1) : text).split(':');
  const on = numbers.get(name);
  if (on === undefined) throw new Error(`the test names no step ${JSON.stringify(name)}`);
  return { on, condition: condition as NeedCondition, data, ...(input !== undefined && { input }) };
}

const PIPELINE: Pipeline = {
  version: 1,
  name: 'test',
  labels: {},
  params: {},
  env: {},
  secrets: [],
  volumes: {},
  steps: [],
  finally: [],
  outputs: {},
  failFast: true,
  pools: {},
  notify: [],
};

const STEP: Omit<Step, 'name'> = {
  env: {},
  secrets: [],
  inputs: {},
  outputs: {},
  results: {},
  needs: [],
  pools: {},
  priority: 0,
  retry: RETRY,
  continueOnError: false,
  ports: {},
};
