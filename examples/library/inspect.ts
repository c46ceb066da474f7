// A program that reads a pipeline file and answers questions about its graph, without running it (docs/library.md).
import { createPlan, loadPipeline, planGraph, selectSteps } from 'sluice';

/** Which steps a change of `step` affects, which data it reads, directly or not, and how many containers a run starts. */
export async function inspect(file: string, step: string) {
  const graph = planGraph(createPlan(await loadPipeline(file)));
  return {
    affected: selectSteps(graph, [step], { direction: 'descendants' }),
    readsFrom: selectSteps(graph, [step], { direction: 'ancestors', along: ({ kind }) => kind === 'data' }),
    mounts: graph
      .mapInEdges(step, (_, { mounts }, from) => mounts.map(({ output, path }) => `${from}.${output} at ${path}`))
      .flat(),
    containers: graph.reduceNodes((sum, _, { cells }) => sum + (cells ?? 0), 0),
  };
}
