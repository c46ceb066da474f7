import type { Doubles } from '../expressions/doubles.ts';
import type { Json } from './json.ts';
import type { NeedCondition, Pipeline, Step } from './pipeline.ts';

/**
 * A pipeline with its parameters bound and its static matrices expanded, as a run fixes it at its start. Plain JSON
 * data; step numbers are indexes into `steps` and never change during a run.
 */
export interface Plan {
  readonly pipeline: Pipeline;
  /** By name, converted to their types. */
  readonly params: Readonly<Record<string, Json>>;
  /** By parameter: whole numbers that the text given for this run writes as doubles. Absent if there are none. */
  readonly paramDoubles?: Readonly<Record<string, Doubles>>;
  /** The axes with their items, by name. Absent if the pipeline has none. */
  readonly axes?: Readonly<Record<string, PlannedAxis>>;
  /** The steps of the pipeline in the order of the file, then those of `finally`. */
  readonly steps: readonly PlannedStep[];
}

/** An axis with its items. */
export interface PlannedAxis {
  /** Unique, `[A-Za-z0-9_-]{1,64}`, in the order of the items. */
  readonly keys: readonly string[];
  readonly items: readonly Json[];
  /**
   * By axis: the index of the item that each item implies, directly or through other axes; -1 if it has no value in the
   * field of a `distinct` axis.
   */
  readonly implies: Readonly<Record<string, readonly number[]>>;
  /** The whole numbers of the items that expressions read as doubles. */
  readonly doubles?: Doubles;
  /**
   * The step whose results list the items, which only a run knows. Until then, the axis has one item with the key `*` for
   * each cell of that step, and so does each step over it have cells: each stands for a batch of cells.
   */
  readonly listedBy?: string;
}

/** An item that a step has listed. */
export interface ListedItem {
  /** Unique in its list. */
  readonly key: string;
  readonly item: Json;
  /** The whole numbers of the item that expressions read as doubles. */
  readonly doubles?: Doubles;
}

/** A step with its dependencies and cells. */
export interface PlannedStep {
  /** Index in `Plan.steps`. */
  readonly index: number;
  readonly step: Step;
  /** Belongs to `finally`: starts when every other step has ended, regardless of the outcome. */
  readonly final: boolean;
  /**
   * Union of data edges, `needs` and steps named in expressions; sorted by `on`, one entry each, and one for each source
   * of an input with rules of its own.
   */
  readonly dependencies: readonly PlannedDependency[];
  /** A plain step has one cell with the key `''`; undefined for `foreach`, known only at run time. */
  readonly cells: readonly Cell[] | undefined;
}

/** An edge between steps, whatever its origin. */
export interface PlannedDependency {
  /** Index of the step depended on. */
  readonly on: number;
  /** The state that the dependency must reach. */
  readonly condition: NeedCondition;
  /** Whether an input mounts one of its outputs. */
  readonly data: boolean;
  /** The input with `or`, `where`, `all` or `optional` that is the only origin of this edge. */
  readonly input?: string;
}

/**
 * One execution of a step: a combination of items of its axes or of values of a matrix, an item of `foreach`, or the only
 * cell of a plain step.
 */
export interface Cell {
  /**
   * Unique in the step, readable, stable under reordering of other cells. For `each`: the keys of the items, joined by
   * commas; otherwise `[a-z0-9-]+`, and `''` for a plain step.
   */
  readonly key: string;
  /** By axis; empty for other steps. */
  readonly matrix: Readonly<Record<string, Json>>;
  /** The `foreach` item. */
  readonly item?: Json;
  /** For `each`: by axis, first those of `each` and then the implied ones, the index of the item. */
  readonly each?: Readonly<Record<string, number>>;
  /** The item of the axis that a step lists; in `each`, that axis has the index of the cell that listed it. */
  readonly listed?: ListedItem & { readonly axis: string };
  /** The whole numbers that expressions read as doubles, because those of other cells have fractions. */
  readonly doubles?: { readonly matrix?: Doubles; readonly item?: Doubles };
}
