import type { Json } from './json.ts';
import type { NeedCondition, Pipeline, Step } from './pipeline.ts';

/**
 * A pipeline with its parameters bound and its static matrices expanded: what a run freezes at its start.
 * Plain JSON data; step numbers are indexes into `steps` and stay the same for the whole run.
 */
export interface Plan {
  readonly pipeline: Pipeline;
  readonly params: Readonly<Record<string, Json>>;
  /** The pipeline's steps in the file's order, then those of `finally`. */
  readonly steps: readonly PlannedStep[];
}

export interface PlannedStep {
  readonly index: number;
  readonly step: Step;
  /** Belongs to `finally`: starts when every other step has ended, regardless of the outcome. */
  readonly final: boolean;
  /** Union of data edges, `needs` and steps named in expressions; sorted by `on`, one entry each. */
  readonly dependencies: readonly PlannedDependency[];
  /** A plain step has one cell with the key `''`; undefined for `foreach`, known only at run time. */
  readonly cells: readonly Cell[] | undefined;
}

export interface PlannedDependency {
  /** Index of the step depended on. */
  readonly on: number;
  readonly condition: NeedCondition;
  /** Whether an input mounts one of its outputs. */
  readonly data: boolean;
}

export interface Cell {
  /** `[a-z0-9-]+`, unique in the step, readable, stable under reordering of other cells; `''` for a plain step. */
  readonly key: string;
  readonly matrix: Readonly<Record<string, Json>>;
  /** The `foreach` item. */
  readonly item?: Json;
}
