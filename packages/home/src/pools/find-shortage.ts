import { own } from '@sluice/core';
import { type ClaimsList, isSameAttempt, type PoolClaim, type Waiter } from './claims-list.ts';

/** A pool without enough free slots for a request. */
export interface Shortage {
  readonly pool: string;
  readonly needed: number;
  readonly used: number;
  readonly size: number;
  /** The attempts that hold its slots. */
  readonly holders: readonly PoolClaim[];
  /** Attempts of other runs that requested slots earlier and are served first. */
  readonly before: readonly Waiter[];
}

/**
 * A waiter whose last request is older than this has expired: a waiting attempt repeats its request at least every 15
 * s.
 */
const FORGOTTEN_AFTER_MS = 60_000;

/**
 * The first pool, by name, that cannot grant the request in addition to the claims and the earlier waiters; undefined
 * if all pools can. Later waiters never delay earlier ones. Within a run, the scheduler decides the order.
 */
export function findShortage(
  { claims, waiting }: ClaimsList,
  asking: Waiter,
  sizes: Readonly<Record<string, number>>,
): Shortage | undefined {
  const place = waiting.findIndex((waiter) => isSameAttempt(waiter, asking));
  const earlier = (place < 0 ? waiting : waiting.slice(0, place)).filter(
    ({ runId, askedAt }) => runId !== asking.runId && Math.abs(asking.askedAt - askedAt) < FORGOTTEN_AFTER_MS,
  );
  for (const pool of Object.keys(asking.slots).sort()) {
    const needed = own(asking.slots, pool)!;
    if (needed === 0) continue;
    const holders = claims.filter((claim) => !isSameAttempt(claim, asking) && (own(claim.slots, pool) ?? 0) > 0);
    const before = earlier.filter(({ slots }) => (own(slots, pool) ?? 0) > 0);
    const used = sum(holders, pool);
    const size = own(sizes, pool) ?? 0;
    if (used + sum(before, pool) + needed > size) return { pool, needed, used, size, holders, before };
  }
  return undefined;
}

function sum(entries: readonly { readonly slots: Readonly<Record<string, number>> }[], pool: string): number {
  return entries.reduce((total, { slots }) => total + own(slots, pool)!, 0);
}

const NAMED = 3;

/** For example `waits for pool gpu: needs 1, 2 of 2 are held by run x step fit, …`. */
export function describeShortage({ pool, needed, used, size, holders, before }: Shortage): string {
  const names = holders
    .slice(0, NAMED)
    .map(({ runId, stepName, cellKey }) => `run ${runId} step ${stepName}${cellKey === '' ? '' : `/${cellKey}`}`);
  const more = holders.length > NAMED ? ` and ${holders.length - NAMED} more` : '';
  const held = holders.length === 0 ? 'none' : `${used} of ${size}`;
  const by = holders.length === 0 ? '' : ` by ${names.join(', ')}${more}`;
  const turn =
    before.length === 0
      ? ''
      : `; ahead of it in the queue: run ${[...new Set(before.map(({ runId }) => runId))].join(', ')}`;
  return `waits for pool ${pool}: needs ${needed}, ${held} are held${by}${turn}`;
}
