import { DirectedGraph } from 'graphology';
import type { Plan } from '../model/plan.ts';

/** The plan as a graphology graph: nodes are step names, an edge runs from a dependency to its dependent. For analysis, not for scheduling. */
export function createGraph(plan: Plan): DirectedGraph {
  const graph = new DirectedGraph();
  for (const { step, index, final } of plan.steps) graph.addNode(step.name, { index, final });
  for (const { step, dependencies } of plan.steps) {
    for (const { on, condition, data } of dependencies) {
      const source = plan.steps[on];
      if (source !== undefined) graph.addDirectedEdge(source.step.name, step.name, { condition, data });
    }
  }
  return graph;
}
