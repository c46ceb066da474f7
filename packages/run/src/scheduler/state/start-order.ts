import { isMatched, type Plan, valuesOfCell } from '@sluice/core';
import type { SchedulerOptions } from '../model/scheduler-options.ts';

/** Edges in compressed rows: the dependents of step `s` are at `edgeStart[s]` up to `edgeStart[s + 1]`. */
interface StepEdges {
  readonly edgeStart: Int32Array;
  readonly edgeTo: Int32Array;
  readonly dependencyCount: Int32Array;
}

/**
 * For each step, the longest path from its start to the end of the run: its own duration plus that of its dependents.
 * Without durations from earlier runs each step counts 1; if only some are known, the others count their mean.
 */
export function remainingPaths(plan: Plan, edges: StepEdges, options: SchedulerOptions): Float64Array {
  const count = plan.steps.length;
  const weight = stepWeights(plan, options);
  const order = topologicalOrder(count, edges);
  const path = weight;
  for (let i = count - 1; i >= 0; i--) {
    const step = order[i]!;
    let longest = 0;
    for (let edge = edges.edgeStart[step]!; edge < edges.edgeStart[step + 1]!; edge++) {
      const after = path[edges.edgeTo[edge]!]!;
      if (after > longest) longest = after;
    }
    path[step]! += longest;
  }
  return path;
}

function stepWeights(plan: Plan, { durations }: SchedulerOptions): Float64Array {
  const weight = new Float64Array(plan.steps.length).fill(1);
  if (durations === undefined) return weight;
  let sum = 0;
  let known = 0;
  for (const { index, step } of plan.steps) {
    const duration = durations(step.name);
    weight[index] = duration ?? -1;
    if (duration === undefined) continue;
    sum += duration;
    known++;
  }
  const mean = known === 0 ? 1 : sum / known;
  for (let i = 0; i < weight.length; i++) if (weight[i]! < 0) weight[i] = mean;
  return weight;
}

/**
 * Kahn's algorithm. For a cycle, which core rejects, zeros remain at the end; the ranks are then wrong and the run gets
 * stuck.
 */
function topologicalOrder(count: number, edges: StepEdges): Int32Array {
  const open = edges.dependencyCount.slice();
  const order = new Int32Array(count);
  let tail = 0;
  for (let step = 0; step < count; step++) if (open[step] === 0) order[tail++] = step;
  for (let head = 0; head < tail; head++) {
    const step = order[head]!;
    for (let edge = edges.edgeStart[step]!; edge < edges.edgeStart[step + 1]!; edge++) {
      const dependent = edges.edgeTo[edge]!;
      if (--open[dependent]! === 0) order[tail++] = dependent;
    }
  }
  return order;
}

/** The places of ready cells in the order in which they start. */
export interface StartOrder {
  /** The place of each step, and the step at each place. A step whose cells have several priorities has several. */
  readonly position: Int32Array;
  readonly stepAt: Int32Array;
  /** By step whose cells have a priority of their own: the place of each cell. */
  readonly cellPlaces: ReadonlyMap<number, Int32Array>;
}

/**
 * The order in which ready cells start: priority, then items in progress before new ones, then the longest remaining
 * path, then the file's order. Otherwise every item would be begun before the first one is finished.
 *
 * All of them are encoded in one number, because sorting a million numbers is many times faster than a million calls of a
 * comparison function. Paths are distinguished as finely as the number allows.
 */
export function startOrder(plan: Plan, paths: Float64Array): StartOrder {
  const places = listPlaces(plan);
  const { steps, priorities } = places;
  const count = steps.length;
  const distinct = [...new Set(priorities)].sort((a, b) => b - a);
  const rank = new Map(distinct.map((priority, i) => [priority, 2 * i]));
  const longest = paths.reduce((most, path) => Math.max(most, path), 0);
  const scale = (longest * 2 * distinct.length * count) / 2 ** 52 || 1;
  const levels = Math.ceil(longest / scale) + 1;
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const step = steps[i]!;
    const level =
      (rank.get(priorities[i]!)! + (continuesItems(plan, step) ? 0 : 1)) * levels +
      Math.floor((longest - paths[step]!) / scale);
    keys[i] = level * count + i;
  }
  keys.sort();
  const position = new Int32Array(plan.steps.length);
  const stepAt = new Int32Array(count);
  const placeOf = new Int32Array(count);
  for (let place = 0; place < count; place++) {
    const i = keys[place]! % count;
    stepAt[place] = steps[i]!;
    position[steps[i]!] = place;
    placeOf[i] = place;
  }
  return { position, stepAt, cellPlaces: placeCells(plan, { ...places, placeOf }) };
}

interface Places {
  /** Of each place before they are sorted. */
  readonly steps: Int32Array;
  readonly priorities: Float64Array;
  /** The steps whose cells have priorities of their own. */
  readonly ofCells: ReadonlyMap<number, ReadonlySet<number>>;
}

/** A place for each step, or for each priority of its cells. */
function listPlaces(plan: Plan): Places {
  const ofCells = new Map<number, ReadonlySet<number>>();
  let count = plan.steps.length;
  for (const { index, step, cells = [] } of plan.steps) {
    if (step.perCell?.priority === undefined || cells.length === 0) continue;
    const priorities = new Set(cells.map((_, cell) => priorityOf(plan, index, cell)));
    ofCells.set(index, priorities);
    count += priorities.size - 1;
  }
  const steps = new Int32Array(count);
  const priorities = new Float64Array(count);
  let at = 0;
  for (let step = 0; step < plan.steps.length; step++) {
    for (const priority of ofCells.get(step) ?? [priorityOf(plan, step, 0)]) {
      steps[at] = step;
      priorities[at++] = priority;
    }
  }
  return { steps, priorities, ofCells };
}

function priorityOf(plan: Plan, step: number, cell: number): number {
  return valuesOfCell(plan, step, cell).priority;
}

function placeCells(
  plan: Plan,
  { steps, priorities, ofCells, placeOf }: Places & { readonly placeOf: Int32Array },
): StartOrder['cellPlaces'] {
  const found = new Map<number, Int32Array>();
  if (ofCells.size === 0) return found;
  const places = new Map<string, number>();
  for (const [i, step] of steps.entries()) if (ofCells.has(step)) places.set(`${step}/${priorities[i]}`, placeOf[i]!);
  for (const step of ofCells.keys()) {
    const place = (_: unknown, cell: number): number => places.get(`${step}/${priorityOf(plan, step, cell)}`)!;
    found.set(step, Int32Array.from(plan.steps[step]!.cells ?? [], place));
  }
  return found;
}

/** Whether the cells of a step continue what cells of another step have begun for the same items. */
function continuesItems({ steps }: Plan, step: number): boolean {
  const reader = steps[step]!;
  return reader.step.each !== undefined && reader.dependencies.some(({ on }) => isMatched(reader, steps[on]!));
}
