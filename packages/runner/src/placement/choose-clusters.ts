import { evaluateTogether, ok, type Plan, type PlannedStep, type Result } from '@sluice/core';
import type { PlacementChoice, RunPlacement } from '@sluice/run';
import { chooseForPart, type Sites } from './choose-for-part.ts';
import { countClusters, mostOf } from './count-clusters.ts';
import { type PlacedStep, splitCells } from './split-cells.ts';

/**
 * Chooses for each cell the clusters that have a fitting instance type, best first. Unless the pipeline orders them,
 * clusters that hold more of its inputs come first. The cells of a step have the same clusters unless its placement, or
 * where its inputs are, depends on the cell. The error names the step for which there is none, and the cell if it matters.
 */
export function chooseClusters(plan: Plan, sites: Sites): Result<RunPlacement, string> {
  return evaluateTogether(plan, () => choose(plan, sites));
}

function choose(plan: Plan, sites: Sites): Result<RunPlacement, string> {
  const choices: PlacementChoice[] = [];
  const indexes = new Map<string, number>();
  const add = (choice: PlacementChoice): number => {
    const key = JSON.stringify(choice);
    const index = indexes.get(key) ?? choices.push(choice) - 1;
    indexes.set(key, index);
    return index;
  };
  const ofStep: (number | readonly number[])[] = [];
  const placed: PlacedStep[] = [];
  for (const planned of inOrder(plan)) {
    const ofCells: number[] = [];
    for (const part of splitCells(plan, planned, { home: sites.home, placed })) {
      const choice = chooseForPart(plan, part, sites);
      if (!choice.ok) return choice;
      const index = add(choice.value);
      for (const cell of part.cells ?? [0]) ofCells[cell] = index;
    }
    const clusters = ofCells.map((index) => choices[index]!.clusters[0]!);
    const counts = countClusters(clusters);
    placed[planned.index] = { most: mostOf(counts), ...(counts.size > 1 && { ofCell: clusters }) };
    ofStep[planned.index] = ofCells.every((index) => index === ofCells[0]) ? ofCells[0]! : ofCells;
  }
  const used = new Set(choices.flatMap(({ clusters }) => clusters));
  const accounts = Object.fromEntries(Object.entries(sites.accounts).filter(([cluster]) => used.has(cluster)));
  return ok({ accounts, choices, ofStep });
}

/** The steps in topological order. Steps of a cycle, which core rejects, are last. */
function inOrder(plan: Plan): PlannedStep[] {
  const open = plan.steps.map(({ dependencies }) => dependencies.length);
  const dependents: number[][] = plan.steps.map(() => []);
  for (const { index, dependencies } of plan.steps) for (const { on } of dependencies) dependents[on]!.push(index);
  const order = plan.steps.filter(({ index }) => open[index] === 0);
  for (const { index } of order) {
    for (const dependent of dependents[index]!) if (--open[dependent]! === 0) order.push(plan.steps[dependent]!);
  }
  return order.concat(plan.steps.filter(({ index }) => open[index]! > 0));
}
