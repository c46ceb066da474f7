import type { Pipeline, Step } from '../model/pipeline.ts';
import { type CellKey, cellKeys } from './cell-keys.ts';
import { listedAxis } from './listed-axes.ts';

/** The expressions of a step by when their values are known. */
export interface SplitKeys {
  /** When the run is planned. */
  readonly early: readonly CellKey[];
  /** When the cell is decided: they use results, or items that are listed during the run. */
  readonly late: readonly CellKey[];
}

const NONE: SplitKeys = { early: [], late: [] };
const REMEMBERED = new WeakMap<NonNullable<Step['perCell']>, SplitKeys>();

/** Splits the expressions for the cells of a step. */
export function splitKeys(pipeline: Pick<Pipeline, 'axes'>, step: Pick<Step, 'perCell' | 'each'>): SplitKeys {
  if (step.perCell === undefined) return NONE;
  const known = REMEMBERED.get(step.perCell);
  if (known !== undefined) return known;
  const keys = cellKeys(step.perCell);
  const lateRoots = ['steps', 'item', ...(listedAxis(pipeline, step) === undefined ? [] : ['each'])];
  const late = new Set(
    keys.filter(
      ({ compiled }) => compiled.ok && compiled.value.references.some(({ root }) => lateRoots.includes(root)),
    ),
  );
  const split = { early: keys.filter((key) => !late.has(key)), late: [...late] };
  REMEMBERED.set(step.perCell, split);
  return split;
}
