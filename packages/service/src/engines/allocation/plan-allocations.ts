import type { Limits } from '../engine.ts';
import type { AllocationConfig } from './allocation-config.ts';

/** A container that is in no allocation. */
export interface WaitingContainer {
  readonly key: string;
  readonly needs: Limits;
  /** The longest time that it may need; undefined if nothing is known. */
  readonly needMs: number | undefined;
  /** Nodes that do not take it. */
  readonly refusedBy: ReadonlySet<string>;
}

/** A node of an allocation that takes containers. */
export interface OpenNode {
  readonly key: string;
  /** The key of its allocation. */
  readonly allocation: string;
  /** Undefined while its job waits in Slurm's queue, or its agent has not begun. */
  readonly capacity: Limits | undefined;
  /** What its containers leave of it; negative if some of them wait there. */
  readonly free: Limits;
  /** Containers that wait there, so that it has the next one at hand when one ends. */
  readonly ahead: number;
  /** How many may. */
  readonly mostAhead: number;
  readonly msLeft: number;
  /** How long it has had no container. */
  readonly idleMs: number;
}

/** What to do now. */
export interface AllocationPlan {
  /** `to`: the key of a node. */
  readonly assigned: readonly { readonly key: string; readonly to: string }[];
  /** Containers that no node can hold. */
  readonly tooBig: readonly string[];
  /** How many further allocations to submit. */
  readonly submit: number;
  /** Allocations to end. */
  readonly ended: readonly string[];
}

/** As configured; `idleMs` is `idleTimeout`. */
export type AllocationRules = Pick<AllocationConfig, 'nodes' | 'max' | 'backlog' | 'minUtilization'> & {
  readonly idleMs: number;
  /** All allocations are submitted as soon as a container waits. */
  readonly usesAll: boolean;
  /** How many allocations may remain; of more, those with the least to do end. Default: all. */
  readonly remain?: number | undefined;
};

/** A node during the planning. */
interface Place {
  readonly key: string;
  readonly allocation: string;
  readonly capacity: Limits;
  readonly idleMs: number;
  readonly msLeft: number;
  readonly mostAhead: number;
  free: Limits;
  ahead: number;
  /** A container that it cannot hold yet is the next one there. */
  isReserved: boolean;
}

/**
 * Assigns waiting containers, in their order, to the nodes of one account's allocations, and lets the number of allocations
 * follow what waits. A container goes where the least remains free, so that allocations become idle and end.
 */
export function planAllocations(
  waiting: readonly WaitingContainer[],
  all: readonly OpenNode[],
  rules: AllocationRules,
): AllocationPlan {
  const given = giveUp(all, rules);
  const nodes = all.filter(({ allocation }) => !given.includes(allocation));
  const places = nodes.flatMap(({ capacity, ...one }): Place[] =>
    capacity === undefined ? [] : [{ ...one, capacity, isReserved: false }],
  );
  const assigned: { key: string; to: string }[] = [];
  const tooBig: string[] = [];
  const allocations = new Set(nodes.map(({ allocation }) => allocation));
  const begun = new Set(places.map(({ allocation }) => allocation));
  const pending = allocations.size - begun.size;
  // Where another node is about to be free, no container waits on one that is not.
  const isBeginning = nodes.some(({ capacity, allocation }) => capacity === undefined && begun.has(allocation));
  const mayWaitThere = !isBeginning && (!rules.usesAll || (pending === 0 && allocations.size >= rules.max));
  let unplaced = 0;
  let coresWanted = 0;
  /** Whether a container can never run in one of these. */
  let needsOther = false;
  for (const one of waiting) {
    const large = places.filter(({ capacity }) => holds(capacity, one.needs));
    if (places.length > 0 && large.length === 0) {
      tooBig.push(one.key);
      continue;
    }
    const possible = large.filter(({ key, msLeft }) => (one.needMs ?? 0) <= msLeft && !one.refusedBy.has(key));
    const place = findPlace(possible, { needs: one.needs, mayWaitThere });
    if (place !== undefined) assigned.push({ key: one.key, to: place.key });
    else {
      unplaced += 1;
      coresWanted += one.needs.cores;
      needsOther ||= possible.length === 0;
    }
  }
  const most = Math.min(rules.backlog - pending, rules.max - allocations.size);
  const least = needsOther && pending === 0 ? 1 : 0;
  const wanted = rules.usesAll
    ? unplaced - pending
    : further(coresWanted, { coming: nodes.length - places.length, places, rules });
  const submit = Math.max(0, Math.min(most, Math.max(least, wanted)));
  const taking = new Set(assigned.map(({ to }) => to));
  const isIdle = ({ key, idleMs }: Place) => idleMs >= rules.idleMs && !taking.has(key);
  return { assigned, tooBig, submit, ended: [...given, ...allOfWhich(places, isIdle)] };
}

/** The allocations that are too many: first those that have not begun, then those with the most free cores. */
function giveUp(nodes: readonly OpenNode[], { remain = Number.POSITIVE_INFINITY }: AllocationRules): string[] {
  const free = new Map<string, number>();
  for (const { allocation, capacity, free: rest } of nodes)
    free.set(
      allocation,
      (free.get(allocation) ?? 0) + (capacity === undefined ? Number.POSITIVE_INFINITY : rest.cores),
    );
  const ordered = [...free].sort(([, a], [, b]) => (a === b ? 0 : b - a)).map(([allocation]) => allocation);
  return ordered.slice(0, Math.max(0, ordered.length - remain));
}

/** The allocations of which all nodes that have begun are so. */
function allOfWhich(places: readonly Place[], isSo: (place: Place) => boolean): string[] {
  const found = new Set(places.map(({ allocation }) => allocation));
  for (const place of places) if (!isSo(place)) found.delete(place.allocation);
  return [...found];
}

/** Changes the place that it returns. */
function findPlace(
  places: readonly Place[],
  { needs, mayWaitThere }: { needs: Limits; mayWaitThere: boolean },
): Place | undefined {
  const possible = places.filter(({ isReserved }) => !isReserved);
  const ready = possible.filter(({ free }) => holds(free, needs));
  const best = ready.sort((a, b) => a.free.cores - b.free.cores)[0];
  if (best !== undefined) {
    best.free = without(best.free, needs);
    return best;
  }
  const next = possible.filter((one) => mayWaitThere && one.ahead < one.mostAhead).sort((a, b) => a.ahead - b.ahead)[0];
  if (next !== undefined) {
    next.ahead += 1;
    next.free = without(next.free, needs);
    return next;
  }
  // Otherwise, what needs little would always be assigned before what needs much.
  const first = possible.sort((a, b) => b.free.cores - a.free.cores)[0];
  if (first !== undefined) first.isReserved = true;
  return undefined;
}

/** How many allocations `cores` justify, in addition to `coming` nodes that have not begun. */
function further(
  cores: number,
  { coming, places, rules }: { coming: number; places: readonly Place[]; rules: AllocationRules },
): number {
  if (coming + places.length === 0) return cores > 0 ? 1 : 0;
  // What a node has is known from those that run.
  const ofNode = Math.max(0, ...places.map(({ capacity }) => capacity.cores));
  const size = rules.nodes * ofNode;
  if (size === 0) return 0;
  let count = 0;
  for (let rest = cores - coming * ofNode; rest > 0 && rest >= rules.minUtilization * size; rest -= size) count += 1;
  return count;
}

/** Whether a container of the second size fits into the first one. */
export function holds(one: Limits, { cores, memoryBytes, gpus }: Limits): boolean {
  return one.cores >= cores && one.memoryBytes >= memoryBytes && one.gpus >= gpus;
}

/** What a container leaves; negative where it does not fit. */
export function without(one: Limits, { cores, memoryBytes, gpus }: Limits): Limits {
  return { cores: one.cores - cores, memoryBytes: one.memoryBytes - memoryBytes, gpus: one.gpus - gpus };
}
