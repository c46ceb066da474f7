import { isMatched, matchOf, type Plan, type PlannedStep } from '@sluice/core';
import { findDependency, firstCluster, firstClusters, type RunPlacement } from '@sluice/run';
import { createCounter } from './count-clusters.ts';

/** An output that a step needs on another cluster than the one where it is written. */
export interface PlannedTransfer {
  /** `step.output`. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** The step that needs it. */
  readonly step: string;
}

/** The copies between clusters that a run will make if no cell moves to another one, each once for all cells. */
export function listTransfers(plan: Plan, placement: RunPlacement, home: string): readonly PlannedTransfer[] {
  const placed = { placement, home: { clusterID: home } };
  const indexes = new Map(plan.steps.map(({ index, step }) => [step.name, index]));
  const found = new Map<string, PlannedTransfer>();
  for (const reader of plan.steps) {
    for (const [input, { from }] of Object.entries(reader.step.inputs)) {
      const source = 'step' in from ? plan.steps[indexes.get(from.step)!] : undefined;
      if (!('step' in from) || source === undefined) continue;
      for (const [to, there] of pairClusters(plan, placed, { reader, source, input })) {
        if (to === there) continue;
        const transfer = { name: `${from.step}.${from.output}`, from: there, to, step: reader.step.name };
        found.set(JSON.stringify(transfer), transfer);
      }
    }
  }
  return [...found.values()];
}

interface Edge {
  readonly reader: PlannedStep;
  readonly source: PlannedStep;
  readonly input: string;
}

interface Placed {
  readonly placement: RunPlacement;
  readonly home: { readonly clusterID: string };
}

/** The clusters of reading cells with those of the cells that they read. */
function pairClusters(
  plan: Plan,
  placed: Placed,
  { reader, source, input }: Edge,
): readonly (readonly [string, string])[] {
  const here = firstClusters(placed, reader.index);
  const there = firstClusters(placed, source.index);
  if (!isMatched(reader, source) || (here.length === 1 && there.length === 1))
    return here.flatMap((to) => there.map((from) => [to, from] as const));
  const match = matchOf(plan, reader, findDependency(reader, source.index, input));
  const countOf = createCounter(match, (cell) => firstCluster(placed, { step: source.index, cell }));
  return (reader.cells ?? []).flatMap((_, cell) => {
    const to = firstCluster(placed, { step: reader.index, cell });
    return [...countOf(cell).keys()].map((from) => [to, from] as const);
  });
}
