import type { Cell, NeedCondition, Pipeline, Plan, Retry, Step } from '@sluice/core';

/** What a test says of a step; everything else is a default. */
export interface TestStep extends Partial<Omit<Step, 'retry' | 'needs'>> {
  /** Names of steps, with `:condition` where it is not `succeeded` and `!` at the end for a mounted output: `a:failed`, `b!`. */
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

/** A plan of the given steps, in their order; those of `finally` must come last. */
export function testPlan(steps: Readonly<Record<string, TestStep>>, pipeline: Partial<Pipeline> = {}): Plan {
  const numbers = new Map(Object.keys(steps).map((name, index) => [name, index]));
  return {
    pipeline: { ...PIPELINE, ...pipeline },
    params: {},
    steps: Object.entries(steps).map(([name, { after = [], cells = 1, final = false, retry, ...step }], index) => ({
      index,
      step: { ...STEP, name, ...step, retry: { ...RETRY, ...retry } },
      final,
      cells:
        cells === 'foreach'
          ? undefined
          : Array.from({ length: cells }, (_, i): Cell => ({ key: cells === 1 ? '' : `c${i}`, matrix: {} })),
      dependencies: after.map((text) => dependency(text, numbers)).sort((a, b) => a.on - b.on),
    })),
  };
}

function dependency(text: string, numbers: ReadonlyMap<string, number>) {
  const data = text.endsWith('!');
  const [name = '', condition = 'succeeded'] = (data ? text.slice(0, -1) : text).split(':');
  const on = numbers.get(name);
  if (on === undefined) throw new Error(`the test names no step ${JSON.stringify(name)}`);
  return { on, condition: condition as NeedCondition, data };
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
