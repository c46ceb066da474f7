import { own } from '@sluice/core';
import { type Claim, type ClaimsList, isSameAttempt, type Waiter } from './claims-list.ts';

/** A pool that cannot give what is asked of it. */
export interface Shortage {
  readonly pool: string;
  readonly needed: number;
  readonly used: number;
  readonly size: number;
  /** Who holds its tokens. */
  readonly holders: readonly Claim[];
  /** Other runs' attempts that asked before and get it first. */
  readonly before: readonly Waiter[];
}

/** Of somebody who waits and has not asked for so long, nobody knows whether he still does: he asks each 15 s at least. */
const FORGOTTEN_AFTER_MS = 60_000;

/**
 * The first pool, by name, without room for the request beside the claims and beside what those get who have waited
 * longer; undefined: all of them have it. Who has waited longest is never held up by those behind him. Within a run the
 * scheduler keeps the order.
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
  for (const pool of Object.keys(asking.tokens).sort()) {
    const needed = own(asking.tokens, pool)!;
    if (needed === 0) continue;
    const holders = claims.filter((claim) => !isSameAttempt(claim, asking) && (own(claim.tokens, pool) ?? 0) > 0);
    const before = earlier.filter(({ tokens }) => (own(tokens, pool) ?? 0) > 0);
    const used = sum(holders, pool);
    const size = own(sizes, pool) ?? 0;
    if (used + sum(before, pool) + needed > size) return { pool, needed, used, size, holders, before };
  }
  return undefined;
}

function sum(entries: readonly { readonly tokens: Readonly<Record<string, number>> }[], pool: string): number {
  return entries.reduce((total, { tokens }) => total + own(tokens, pool)!, 0);
}

const NAMED = 3;

/** `pool gpu: needs 1, 2 of 2 are held by run x step fit, …`. */
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
