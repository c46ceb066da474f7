import type { Launch } from '../engine.ts';
import type { Allocation } from './allocation.ts';
import type { AllocationNode } from './allocation-node.ts';
import type { EndedObservation, RunningObservation } from './spool-lines.ts';

/** Pause after an allocation that could not be submitted or did not work; it doubles each time. */
const RETRY_MS = { first: 10_000, most: 600_000 };

/** A container of the pool. It is kept after its end until it is removed, because its end may be asked for again. */
export interface PooledContainer {
  launch: Launch;
  /** The longest time that it may need, as far as known. */
  readonly needMs: number | undefined;
  readonly group: Group;
  /** Undefined while it waits, and after its end. */
  node: AllocationNode | undefined;
  isStopped: boolean;
  /** Nodes that gave it back. Their agents ignore a further order for it. */
  readonly refusedBy: Set<string>;
  /** It is not assigned before, by a monotonic clock. */
  notBefore: number;
  /** Set once it is to become a job of its own; settles when Slurm has taken or rejected the job, or does not answer. */
  moving?: Promise<void>;
  running?: RunningObservation;
  ended?: EndedObservation;
}

/** The containers of one account whose allocations have the same options, and either have GPUs or have none. */
export interface Group {
  readonly accountID: string;
  readonly options: Launch['options'];
  readonly hasGpus: boolean;
  readonly waiting: Map<string, PooledContainer>;
  /** What its containers wait for, for people. */
  reason: string;
  /** No allocation is submitted before, by a monotonic clock. */
  retryAt: number;
  /** How many allocations in a row could not be submitted or did not work. */
  failures: number;
}

/** What distinguishes a group. */
export type GroupIdentity = Pick<Group, 'accountID' | 'options' | 'hasGpus'>;

/** An allocation and its group. */
export interface PooledAllocation {
  readonly allocation: Allocation;
  readonly group: Group;
}

/** A container that is in no allocation yet. */
export function createContainer(from: Pick<PooledContainer, 'launch' | 'needMs' | 'group'>): PooledContainer {
  return { ...from, node: undefined, isStopped: false, refusedBy: new Set(), notBefore: 0 };
}

/** A group without containers. */
export function createGroup(of: GroupIdentity): Group {
  const { accountID, options, hasGpus } = of;
  return {
    accountID,
    options,
    hasGpus,
    waiting: new Map(),
    reason: 'waits for an allocation',
    retryAt: 0,
    failures: 0,
  };
}

/** Two groups with the same key are one. */
export function groupKey({ accountID, options, hasGpus }: GroupIdentity): string {
  return JSON.stringify([accountID, hasGpus, Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** A site that rejects allocations is asked less often. */
export function noteFailure(group: Group, why: string): void {
  const pause = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** group.failures);
  group.failures += 1;
  group.retryAt = performance.now() + pause;
  group.reason = `waits for an allocation: ${why}; trying again in ${Math.round(pause / 1000)} s`;
}
