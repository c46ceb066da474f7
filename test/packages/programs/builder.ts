import assert from 'node:assert/strict';
import { createPlan, pipeline, planGraph } from 'sluice';

const p = pipeline('train', { params: { rates: [0.1, 0.2], model: 'small' } });
const fit = p.step('fit', { matrix: { rate: p.params.rates, seed: [1, 2] } }, ({ matrix }) => ({
  command: ['sh', '-c', 'echo "$0 $1" > /out/model/weights', matrix.rate, p.params.model],
  outputs: ['model'],
}));
p.step('report', { script: 'cat /in/models/*/weights', inputs: { models: fit.outputs.model } });
const plan = createPlan(p.build(), { params: { rates: [0.1, 0.2, 0.4] } });
const graph = planGraph(plan);
assert.deepEqual(
  graph.nodes().map((step) => [step, graph.getNodeAttributes(step).cells]),
  [
    ['fit', 6],
    ['report', 1],
  ],
);
