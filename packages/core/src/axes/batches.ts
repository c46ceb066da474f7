import { own } from '../model/own.ts';
import type { Cell, ListedItem, Plan } from '../model/plan.ts';
import { UNLISTED } from './plan-axes.ts';

/**
 * Numbers that grow in batches. Each of the first ones stands for a batch of which the size is not known; when it is known, it
 * becomes the first of its batch, and the others are added at the end. So no number ever changes its meaning.
 */
export interface Batches {
  /** How many of them stand for batches. */
  readonly planned: number;
  /** The size of a batch; undefined until it is known. */
  sizeOf(batch: number): number | undefined;
  /** The members of a batch, in order; until its size is known, the one that stands for it. */
  members(batch: number): readonly number[];
  /** The batch of a member, and its place there. */
  batchOf(member: number): number;
  placeOf(member: number): number;
  /** The member at a place of a batch. */
  memberAt(batch: number, place: number): number;
  /** Sets the size of a batch, once. Returns the members that are added. */
  expand(batch: number, size: number): { readonly from: number; readonly to: number };
}

/** Creates batches of unknown sizes. */
export function createBatches(batchCount: number): Batches {
  const sizes = new Int32Array(batchCount).fill(-1);
  /** Of each batch, the number of its second member. */
  const seconds = new Int32Array(batchCount);
  /** Of the added members. */
  const batchOf: number[] = [];
  const memberAt = (batch: number, place: number): number => (place === 0 ? batch : seconds[batch]! + place - 1);
  return {
    planned: batchCount,
    sizeOf: (batch) => (sizes[batch]! < 0 ? undefined : sizes[batch]!),
    members(batch) {
      const size = sizes[batch]!;
      return size < 0 ? [batch] : Array.from({ length: size }, (_, place) => memberAt(batch, place));
    },
    batchOf: (member) => (member < batchCount ? member : batchOf[member - batchCount]!),
    placeOf: (member) => (member < batchCount ? 0 : member - seconds[batchOf[member - batchCount]!]! + 1),
    memberAt,
    expand(batch, size) {
      if (sizes[batch] !== -1) throw new Error(`cannot set the size of batch ${batch} to ${size}: it is known`);
      const from = batchCount + batchOf.length;
      sizes[batch] = size;
      seconds[batch] = from;
      for (let place = 1; place < size; place++) batchOf.push(batch);
      return { from, to: from + Math.max(0, size - 1) };
    },
  };
}

/** The cell of the plan that stands for the list of a cell; the cell itself if its step has no listed axis. */
export function plannedCell(batches: Batches | undefined, cell: number): number {
  return batches?.batchOf(cell) ?? cell;
}

/** The steps over an axis that the cells of another step list. */
export interface ListedSteps {
  readonly axis: string;
  readonly steps: readonly number[];
  /** The planned cells of a step that stand for the list of one cell. */
  batchesOf(step: number, listing: number): readonly number[];
}

const LISTED = new WeakMap<Plan, ReadonlyMap<number, readonly ListedSteps[]>>();

/** By the step that lists: what it lists. */
export function listedSteps(plan: Plan): ReadonlyMap<number, readonly ListedSteps[]> {
  const known = LISTED.get(plan);
  if (known !== undefined) return known;
  const found = new Map<number, ListedSteps[]>();
  for (const [axis, { listedBy }] of Object.entries(plan.axes ?? {})) {
    if (listedBy === undefined) continue;
    const listing = listingIndex(plan, axis);
    found.set(listing, [...(found.get(listing) ?? []), createListedSteps(plan, axis)]);
  }
  LISTED.set(plan, found);
  return found;
}

/** The number of the step that lists the items of an axis; -1 if none does. */
export function listingIndex({ axes = {}, steps }: Plan, axis: string): number {
  const name = own(axes, axis)?.listedBy;
  return steps.findIndex(({ step }) => step.name === name);
}

function createListedSteps(plan: Plan, axis: string): ListedSteps {
  const steps = plan.steps.filter(({ step }) => step.each?.includes(axis) === true);
  const byStep = new Map<number, ReadonlyMap<number, readonly number[]>>();
  for (const { index, cells = [] } of steps) {
    const byListing = new Map<number, number[]>();
    for (const [cell, { each = {} }] of cells.entries()) {
      const listing = own(each, axis)!;
      const others = byListing.get(listing);
      if (others === undefined) byListing.set(listing, [cell]);
      else others.push(cell);
    }
    byStep.set(index, byListing);
  }
  return {
    axis,
    steps: steps.map(({ index }) => index),
    batchesOf: (step, listing) => byStep.get(step)?.get(listing) ?? [],
  };
}

/** By step: the batches of its cells; undefined for a step whose cells the plan knows. */
export function batchesOfPlan(plan: Plan): readonly (Batches | undefined)[] {
  const batches: (Batches | undefined)[] = plan.steps.map(() => undefined);
  for (const listed of listedSteps(plan).values()) {
    for (const { steps } of listed)
      for (const step of steps) batches[step] = createBatches(plan.steps[step]!.cells!.length);
  }
  return batches;
}

/** The cell of a listed item, from the planned cell that stands for its list. */
export function listedCell(planned: Cell, axis: string, listed: ListedItem): Cell {
  return { ...planned, key: planned.key.replace(UNLISTED, listed.key), listed: { ...listed, axis } };
}
