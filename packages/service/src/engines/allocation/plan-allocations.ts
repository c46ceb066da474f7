import type { Limits } from '../engine.ts';
import type { AllocationConfig } from './allocation-config.ts';

/** A container that is in no allocation. */
export interface WaitingContainer {
  readonly key: string;
  readonly needs: Limits;
  /** The longest time that it may need; undefined if nothing is known. */
  readonly needMs: number | undefined;
  /** Allocations that do not take it. */
  readonly refusedBy: ReadonlySet<string>;
}

/** An allocation that takes containers. */
export interface OpenAllocation {
  readonly key: string;
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
  readonly assigned: readonly { readonly key: string; readonly to: string }[];
  /** Containers that no allocation can hold. */
  readonly tooBig: readonly string[];
  /** How many further allocations to submit. */
  readonly submit: number;
  /** Allocations to end. */
  readonly ended: readonly string[];
}

/** As configured; `idleMs` is `idleTimeout`. */
export type AllocationRules = Pick<AllocationConfig, 'max' | 'backlog' | 'minUtilization'> & {
  readonly idleMs: number;
  /** All allocations are submitted as soon as a container waits. */
  readonly usesAll: boolean;
};

/** An allocation during the planning. */
interface Place {
  readonly key: string;
  readonly capacity: Limits;
  readonly msLeft: number;
  readonly mostAhead: number;
  free: Limits;
  ahead: number;
  /** A container that it cannot hold yet is the next one there. */
  isReserved: boolean;
}

/**
 * Assigns waiting containers, in their order, to the allocations of one account, and lets their number follow what waits. A
 * container goes where the least remains free, so that allocations become idle and end.
 */
export function planAllocations(
  waiting: readonly WaitingContainer[],
  allocations: readonly OpenAllocation[],
  rules: AllocationRules,
): AllocationPlan {
  const places = allocations.flatMap(({ capacity, ...one }): Place[] =>
    capacity === undefined ? [] : [{ ...one, capacity, isReserved: false }],
  );
  const assigned: { key: string; to: string }[] = [];
  const tooBig: string[] = [];
  const pending = allocations.length - places.length;
  // Where another allocation is about to be free, no container waits in one that is not.
  const mayWaitThere = !rules.usesAll || (pending === 0 && allocations.length >= rules.max);
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
  const isBusy = new Set(assigned.map(({ to }) => to));
  const ended = allocations.filter(({ key, capacity, idleMs }) => {
    return capacity !== undefined && idleMs >= rules.idleMs && !isBusy.has(key);
  });
  const most = Math.min(rules.backlog - pending, rules.max - allocations.length);
  const least = needsOther && pending === 0 ? 1 : 0;
  const wanted = rules.usesAll ? unplaced - pending : further(coresWanted, { pending, places, rules });
  const submit = Math.max(0, Math.min(most, Math.max(least, wanted)));
  return { assigned, tooBig, submit, ended: ended.map(({ key }) => key) };
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

/** How many allocations `cores` justify, in addition to those that are pending. */
function further(
  cores: number,
  { pending, places, rules }: { pending: number; places: readonly Place[]; rules: AllocationRules },
): number {
  if (pending + places.length === 0) return cores > 0 ? 1 : 0;
  // What an allocation has is known from those that run.
  const size = Math.max(0, ...places.map(({ capacity }) => capacity.cores));
  if (size === 0) return 0;
  let count = 0;
  for (let rest = cores - pending * size; rest > 0 && rest >= rules.minUtilization * size; rest -= size) count += 1;
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
