import type { Json, StepStatus } from '@sluice/core';
import { isFannedOut, type RunFacts, type Scheduler, stepIndex, stepStatus } from '@sluice/run';

/** The file `manifest.json` next to the outputs of a step's cells, for steps that mount all of them (docs/pipeline.md). */
export interface Manifest {
  readonly step: string;
  readonly output: string;
  /** In the order of the cells. */
  readonly cells: readonly ManifestCell[];
}

/** One cell of a manifest. */
export interface ManifestCell {
  readonly cell: string;
  readonly matrix: Readonly<Record<string, Json>>;
  readonly item?: Json;
  /** A reused cell counts as succeeded; only cells that succeeded have files. */
  readonly status: StepStatus;
  /** Directory of the cell's output, relative to the manifest. */
  readonly path: string;
  readonly results: Readonly<Record<string, Json>>;
}

/** The text of the file. */
export function renderManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/** The manifest of an output of the pipeline; undefined for a plain step, which has none. */
export function findManifest(
  { facts, scheduler }: { readonly facts: RunFacts; readonly scheduler: Scheduler },
  of: { readonly step: string; readonly output: string },
): Manifest | undefined {
  const step = stepIndex(facts.plan, of.step)!;
  return isFannedOut(facts, step) ? createManifest({ facts, scheduler }, step, of.output) : undefined;
}

/** The manifest of one output of a step with cells, by the present states of the cells. */
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
      status: stepStatus(scheduler.state(step, cell)),
      path: key,
      results: facts.known[step]?.[cell]?.results ?? {},
    })),
  };
}
