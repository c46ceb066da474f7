import { DirectedGraph } from 'graphology';
import { guardArguments } from '../model/guard-arguments.ts';
import type { NeedCondition } from '../model/pipeline.ts';
import type { Plan, PlannedDependency, PlannedStep } from '../model/plan.ts';
import { planLevels } from '../plan/plan-levels.ts';

/**
 * A plan as a graphology graph: nodes are step names in the plan's order, and an edge leads from a step to its
 * dependent. All attributes are plain JSON. The rule that steps of `finally` come last has no edges.
 */
export type PlanGraph = DirectedGraph<StepNode, StepEdge, { readonly pipeline: string }>;

/** The attributes of a node. The step itself is `plan.steps[index]`. */
export interface StepNode {
  /** Index in `Plan.steps`. */
  readonly index: number;
  readonly kind: 'container' | 'service' | 'approval';
  /** As written: it may contain expressions. Absent: the engine's default. */
  readonly image?: string;
  /** The number of containers; absent for `foreach`, known only at run time. */
  readonly cells?: number;
  /** The longest distance from a step without dependencies. */
  readonly level: number;
  /** Belongs to `finally`: it starts after all steps that do not. */
  readonly final: boolean;
}

/** The attributes of an edge. */
export interface StepEdge {
  /** The state that the first step must reach before the second can start. */
  readonly condition: NeedCondition;
  /** `data`: the second step mounts outputs of the first. `order`: it only starts later, or reads its results or status. */
  readonly kind: 'data' | 'order';
  /** What is mounted; empty for an edge of the kind `order`. */
  readonly mounts: readonly StepMount[];
}

/** An output of a step that another step mounts, or a part of it. */
export interface StepMount {
  readonly output: string;
  /** The file or directory in the output; absent: the whole output. */
  readonly outputPath?: string;
  readonly input: string;
  /** Where the second step mounts it. */
  readonly path: string;
  readonly writable: boolean;
}

/**
 * Builds a graph for analysis, not for scheduling: adding an edge takes about twelve microseconds.
 *
 * @example
 * ```ts
 * import { createPlan, pipeline, planGraph } from 'sluice';
 *
 * const p = pipeline('p');
 * const a = p.step('a', { command: ['a'], outputs: { data: '/out' } });
 * p.step('b', { command: ['b'], inputs: { data: a.outputs.data } });
 * console.log(planGraph(createPlan(p.build())).outNeighbors('a')); // [ 'b' ]
 * ```
 */
export function planGraph(plan: Plan): PlanGraph {
  return guardArguments('planGraph', () => createGraph(plan));
}

function createGraph(plan: Plan): PlanGraph {
  const graph: PlanGraph = new DirectedGraph();
  graph.setAttribute('pipeline', plan.pipeline.name);
  const levels = planLevels(plan);
  for (const planned of plan.steps) graph.addNode(planned.step.name, nodeOf(planned, levels[planned.index] ?? 0));
  for (const { step, dependencies } of plan.steps) {
    for (const dependency of dependencies) {
      const { name } = plan.steps[dependency.on]!.step;
      graph.addDirectedEdge(name, step.name, edgeOf(dependency, { from: name, inputs: step.inputs }));
    }
  }
  return graph;
}

function nodeOf({ index, step, final, cells }: PlannedStep, level: number): StepNode {
  const kind = step.approval !== undefined ? 'approval' : step.service !== undefined ? 'service' : 'container';
  return {
    index,
    kind,
    ...(step.image !== undefined && { image: step.image }),
    ...(cells !== undefined && { cells: cells.length }),
    level,
    final,
  };
}

function edgeOf(
  { condition, data }: PlannedDependency,
  { from, inputs }: { readonly from: string; readonly inputs: PlannedStep['step']['inputs'] },
): StepEdge {
  const mounts = Object.entries(inputs).flatMap(([input, { from: source, path, writable = false }]) =>
    'step' in source && source.step === from
      ? [
          {
            output: source.output,
            ...(source.path !== undefined && { outputPath: source.path }),
            ...{ input, path, writable },
          },
        ]
      : [],
  );
  return { condition, kind: data ? 'data' : 'order', mounts };
}
