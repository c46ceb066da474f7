import { listedAxis, own, type Plan, type PlannedStep } from '@sluice/core';

/** What a plan knows of the cells of a step over an axis whose items another step lists during the run. */
export interface ListCount {
  readonly axis: string;
  /** The step that lists the items. */
  readonly step: string;
  /** The number of lists: one for each cell of that step. */
  readonly count: number;
}

/** Undefined for a step whose cells do not depend on lists. */
export function countLists({ pipeline, axes = {} }: Plan, { step, cells = [] }: PlannedStep): ListCount | undefined {
  const axis = listedAxis(pipeline, step);
  const listedBy = axis === undefined ? undefined : own(axes, axis)?.listedBy;
  if (axis === undefined || listedBy === undefined) return undefined;
  return { axis, step: listedBy, count: new Set(cells.map(({ each = {} }) => own(each, axis))).size };
}
