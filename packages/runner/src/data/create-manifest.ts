import type { Json } from '@sluice/core';
import type { RunFacts } from '../run/run-facts.ts';
import type { CellState } from '../scheduler/cell-state.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** The file `manifest.json` beside the outputs of a step's cells: what a fan-in reads (docs/pipeline.md). */
export interface Manifest {
  readonly step: string;
  readonly output: string;
  /** In the order of the cells. */
  readonly cells: readonly ManifestCell[];
}

export interface ManifestCell {
  readonly cell: string;
  readonly matrix: Readonly<Record<string, Json>>;
  readonly item?: Json;
  /** The cell's state; only `succeeded` and `cached` have files. */
  readonly status: CellState;
  /** Directory of the cell's output, relative to the manifest. */
  readonly path: string;
  readonly results: Readonly<Record<string, Json>>;
}

export function createManifest(
  run: { readonly facts: RunFacts; readonly scheduler: Scheduler },
  step: number,
  output: string,
): Manifest {
  const { facts, scheduler } = run;
  const cells = facts.cells[step] ?? [];
  return {
    step: facts.plan.steps[step]!.step.name,
    output,
    cells: cells.map(({ key, matrix, item }, cell) => ({
      cell: key,
      matrix,
      ...(item !== undefined && { item }),
      status: scheduler.state(step, cell),
      path: key,
      results: facts.known[step]?.[cell]?.results ?? {},
    })),
  };
}
