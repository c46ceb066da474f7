import {
  isMatched,
  listedAxis,
  matchOf,
  type Plan,
  type PlannedStep,
  resolvePlannedText,
  valuesOfCell,
} from '@sluice/core';
import { findDependency } from '@sluice/run';
import { createCounter, mostOf } from './count-clusters.ts';

/** Cells of a step for which one choice is made. */
export interface CellPart {
  readonly planned: PlannedStep;
  /** In their order. Absent: all cells of the step. */
  readonly cells?: readonly number[];
  /** For each input that a step writes, the cluster that has most of it; the cluster of the run for a volume. */
  readonly inputs: readonly (string | undefined)[];
}

/** Where the cells of a step run. */
export interface PlacedStep {
  /** The first cluster of most of its cells. */
  readonly most: string | undefined;
  /** The first cluster of each cell, if they have different ones. */
  readonly ofCell?: readonly string[];
}

/** The steps before this one. */
export interface PlacedSteps {
  /** The cluster of the run. */
  readonly home: string;
  /** By the index of the step. */
  readonly placed: readonly PlacedStep[];
}

/**
 * Splits the cells of a step by everything that a choice depends on, if a choice for each cell is wanted: the placement has
 * expressions, or it has several clusters and the cells read what cells of one other step have written on several.
 */
export function splitCells(plan: Plan, planned: PlannedStep, before: PlacedSteps): readonly CellPart[] {
  const sources = listSources(plan, planned, before);
  const { step, cells = [] } = planned;
  const { anyOf } = step.placement ?? plan.pipeline.placement ?? {};
  const isByInputs = anyOf !== undefined && sources.some(({ ofCell }) => ofCell !== undefined);
  // The cells of a list are not known yet; a check excludes that their placement depends on them.
  const isWhole = cells.length === 0 || listedAxis(plan.pipeline, step) !== undefined;
  if (isWhole || (step.perCell?.placement === undefined && !isByInputs))
    return [{ planned, inputs: sources.map(({ ofStep }) => ofStep) }];
  const parts = new Map<string, { readonly cells: number[]; readonly inputs: CellPart['inputs'] }>();
  for (const cell of cells.keys()) {
    const inputs = sources.map(({ ofStep, ofCell }) => (ofCell === undefined ? ofStep : ofCell(cell)));
    const key = JSON.stringify([inputs, describeRequest(plan, planned, cell)]);
    const part = parts.get(key);
    if (part === undefined) parts.set(key, { cells: [cell], inputs });
    else part.cells.push(cell);
  }
  return [...parts.values()].map((part) => ({ planned, ...part }));
}

function describeRequest(plan: Plan, { index, step, cells = [] }: PlannedStep, cell: number): unknown {
  const { placement, resources, retry } = valuesOfCell(plan, index, cell);
  const type = step.instanceType?.includes('${{')
    ? resolvePlannedText(plan, step.instanceType, { cell: cells[cell]! })
    : undefined;
  return [placement, resources, retry.escalate, type?.ok ? type.value : undefined];
}

interface Source {
  readonly ofStep: string | undefined;
  /** If the cells of the reader have it on different clusters. */
  readonly ofCell?: (cell: number) => string | undefined;
}

function listSources(plan: Plan, planned: PlannedStep, { home, placed }: PlacedSteps): readonly Source[] {
  const indexes = new Map(planned.dependencies.map(({ on }) => [plan.steps[on]!.step.name, on]));
  return Object.entries(planned.step.inputs).map(([input, { from }]): Source => {
    if ('volume' in from) return { ofStep: home };
    const source = plan.steps[indexes.get(from.step) ?? -1];
    const { most: ofStep, ofCell } = placed[source?.index ?? -1] ?? { most: undefined };
    if (source === undefined || ofCell === undefined || !isMatched(planned, source)) return { ofStep };
    const match = matchOf(plan, planned, findDependency(planned, source.index, input));
    const countOf = createCounter(match, (cell) => ofCell[cell]!);
    return { ofStep, ofCell: (cell) => mostOf(countOf(cell)) };
  });
}
