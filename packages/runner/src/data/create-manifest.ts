import { describeAxes, type Json, type StepStatus } from '@sluice/core';
import {
  cellDirectory,
  cellsInOrder,
  isFannedOut,
  type RunFacts,
  type Scheduler,
  stepIndex,
  stepStatus,
} from '@sluice/run';

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
  /** The keys of its items, by axis. */
  readonly axes?: Readonly<Record<string, string>>;
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
  if (!isFannedOut(facts, step)) return undefined;
  const cells = facts.cells[step] ?? [];
  const all = cellsInOrder(facts, step);
  const pathOf = (cell: number): string => cellDirectory(cells[cell]!.key);
  return createManifest({ facts, scheduler }, { step, output: of.output, cells: all, pathOf });
}

/** Cells of a step, and where each of them is in the directory of the manifest. */
export interface ManifestOf {
  readonly step: number;
  readonly output: string;
  readonly cells: readonly number[];
  readonly pathOf: (cell: number) => string;
}

/** The manifest of one output of some cells of a step, by their present states. */
export function createManifest(
  { facts, scheduler }: { readonly facts: RunFacts; readonly scheduler: Scheduler },
  { step, output, cells, pathOf }: ManifestOf,
): Manifest {
  const all = facts.cells[step] ?? [];
  return {
    step: facts.plan.steps[step]!.step.name,
    output,
    cells: cells.map((cell) => {
      const { key, matrix, item } = all[cell]!;
      const axes = describeAxes(facts.plan, all[cell]!);
      return {
        cell: key,
        matrix,
        ...(item !== undefined && { item }),
        ...(axes && { axes }),
        status: stepStatus(scheduler.state(step, cell)),
        path: pathOf(cell),
        results: facts.known[step]?.[cell]?.results ?? {},
      };
    }),
  };
}
