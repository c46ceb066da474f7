import type { Pipeline, Plan, PlannedDependency, Step } from '@sluice/core';

/** A step with every default, for plans made by hand. */
export function createStep(name: string, more: Partial<Step> = {}): Step {
  return {
    name,
    env: {},
    secrets: [],
    inputs: {},
    outputs: {},
    results: {},
    needs: [],
    instanceType: 'sim-1',
    pools: {},
    priority: 0,
    retry: {
      limit: 0,
      on: ['failed', 'oom', 'timeout'],
      backoff: { initialMs: 1000, factor: 2, maxMs: 60_000 },
      escalate: [],
      infrastructure: 3,
    },
    continueOnError: false,
    ports: {},
    ...more,
  };
}

/** A plan of these steps; dependencies come from `needs` and data edges as the planner would find them. */
export function createHandPlan(steps: readonly Step[], more: Partial<Pipeline> = {}): Plan {
  const index = new Map(steps.map((step, at) => [step.name, at]));
  const pipeline: Pipeline = {
    version: 1,
    name: 'hand',
    labels: {},
    params: {},
    env: {},
    secrets: [],
    volumes: {},
    steps,
    finally: [],
    outputs: {},
    failFast: true,
    pools: {},
    notify: [],
    ...more,
  };
  return {
    pipeline,
    params: {},
    steps: steps.map((step, at) => {
      const dependencies = new Map<number, PlannedDependency>();
      for (const need of step.needs) {
        const on = index.get(need.step)!;
        dependencies.set(on, { on, condition: need.condition, data: false });
      }
      for (const [input, { from, optional }] of Object.entries(step.inputs)) {
        if (!('step' in from)) continue;
        const on = index.get(from.step)!;
        dependencies.set(on, { on, condition: 'succeeded', data: true, ...(optional && { input }) });
      }
      const axis = Object.entries(step.matrix?.axes ?? {})[0];
      const cells = axis
        ? (axis[1] as unknown as number[]).map((value) => ({
            key: `${axis[0]}-${value}`,
            matrix: { [axis[0]]: value },
          }))
        : [{ key: '', matrix: {} }];
      return {
        index: at,
        step,
        final: false,
        dependencies: [...dependencies.values()].sort((a, b) => a.on - b.on),
        cells: step.foreach === undefined ? cells : undefined,
      };
    }),
  };
}
