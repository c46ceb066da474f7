import type { Json, StepStatus } from '@sluice/core';
import { isFannedOut } from '../record/locate-output.ts';
import type { RunFacts } from '../record/run-facts.ts';
import { stepIndex } from '../record/step-context.ts';
import { stepStatus } from '../record/step-status.ts';
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
  /** A reused cell has succeeded; only cells that succeeded have files. */
  readonly status: StepStatus;
  /** Directory of the cell's output, relative to the manifest. */
  readonly path: string;
  readonly results: Readonly<Record<string, Json>>;
}

/** The manifest as it stands in its file. */
export function renderManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/** The manifest of an output; undefined for a plain step, which has none. */
export function findManifest(
  { facts, scheduler }: { readonly facts: RunFacts; readonly scheduler: Scheduler },
  of: { readonly step: string; readonly output: string },
): Manifest | undefined {
  const step = stepIndex(facts.plan, of.step)!;
  return isFannedOut(facts, step) ? createManifest({ facts, scheduler }, step, of.output) : undefined;
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
      status: stepStatus(scheduler.state(step, cell)),
      path: key,
      results: facts.known[step]?.[cell]?.results ?? {},
    })),
  };
}
