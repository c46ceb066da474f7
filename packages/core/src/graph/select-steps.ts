import { guardArguments, requireArgument } from '../model/guard-arguments.ts';
import type { PlanGraph, StepEdge } from './plan-graph.ts';

/** Whether to select dependencies or dependents, and along which edges. */
export interface StepSelection {
  /** `ancestors` are dependencies, `descendants` are dependents. */
  readonly direction: 'ancestors' | 'descendants';
  /** Edges to follow; default: all. */
  readonly along?: (edge: StepEdge) => boolean;
}

/**
 * The direct and indirect dependencies or dependents of the steps in `names`, in the plan's order. A step of `names` is
 * included only if another one leads to it. Throws if a name is not a step of the plan.
 *
 * @example
 * ```ts
 * import { createPlan, pipeline, planGraph, selectSteps } from 'sluice';
 *
 * const p = pipeline('p');
 * const a = p.step('a', { command: ['a'] });
 * p.step('b', { command: ['b'], needs: a });
 * console.log(selectSteps(planGraph(createPlan(p.build())), ['b'], { direction: 'ancestors' })); // [ 'a' ]
 * ```
 */
export function selectSteps(graph: PlanGraph, names: Iterable<string>, selection: StepSelection): readonly string[] {
  return guardArguments('selectSteps', () => select(graph, names, selection));
}

function select(
  graph: PlanGraph,
  names: Iterable<string>,
  { direction, along = () => true }: StepSelection,
): readonly string[] {
  requireArgument(direction === 'ancestors' || direction === 'descendants', 'selectSteps: the direction is unknown');
  const found = new Set<string>();
  const open = [...names];
  const visit = (name: string, edge: StepEdge): void => {
    if (found.has(name) || !along(edge)) return;
    found.add(name);
    open.push(name);
  };
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (direction === 'ancestors') graph.forEachInEdge(name, (_, edge, source) => visit(source, edge));
    else graph.forEachOutEdge(name, (_, edge, __, target) => visit(target, edge));
  }
  return graph.filterNodes((name) => found.has(name));
}
