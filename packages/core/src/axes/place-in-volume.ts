import { own } from '../model/own.ts';
import type { NamedVolume } from '../model/pipeline.ts';
import type { Cell, Plan } from '../model/plan.ts';
import { describeAxes, NO_ITEM } from './cell-layout.ts';

/** The directory in a volume that a cell mounts: one for each combination of items of `each`, otherwise all of it (`''`). */
export function placeInVolume(plan: Plan, volume: NamedVolume | undefined, cell: Cell): string {
  if (volume?.each === undefined) return '';
  const keys = describeAxes(plan, cell) ?? {};
  return volume.each.map((axis) => own(keys, axis) ?? NO_ITEM).join('/');
}
