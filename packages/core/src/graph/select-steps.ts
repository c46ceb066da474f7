import type { PlanGraph, StepEdge } from './plan-graph.ts';

export interface StepSelection {
  readonly direction: 'ancestors' | 'descendants';
  /** Edges to follow; default: all. */
  readonly along?: (edge: StepEdge) => boolean;
}

/**
 * The steps that those in `names` depend on, directly or not, or those that depend on them, in the plan's order. A step
 * of `names` itself is among them only if another one leads to it. Throws for a name that is no step of the plan.
 */
export function selectSteps(
  graph: PlanGraph,
  names: Iterable<string>,
  { direction, along = () => true }: StepSelection,
): readonly string[] {
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
