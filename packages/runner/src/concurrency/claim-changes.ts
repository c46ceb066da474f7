import {
  type ClaimsList,
  changeClaims,
  findShortage,
  isSameAttempt,
  type PoolClaim,
  type Shortage,
  type Waiter,
  waiterOf,
} from '@sluice/home';
import { adoptedCluster } from '@sluice/run';
import type { RunSession } from '../session/run-session.ts';

/** The run's changes of the list of claims. Changes requested at the same time are written as one. */
export interface ClaimChanges {
  /** Acquires all slots of the claim, or none; resolves to the shortage that prevents it. */
  acquire(claim: PoolClaim): Promise<Shortage | undefined>;
  /** Removes the claim, or the entry of the waiting attempt. */
  release(claim: PoolClaim): Promise<void>;
  /** Resolves when all requested changes have been made. */
  settled(): Promise<void>;
}

type Change =
  | { readonly type: 'acquire'; readonly claim: PoolClaim; readonly resolve: (shortage: Shortage | undefined) => void }
  | { readonly type: 'release'; readonly claim: PoolClaim; readonly resolve: () => void };

/** The list after a change, and what resolves the request for it. */
interface Changed {
  readonly list: ClaimsList;
  readonly resolve: () => void;
}

/** A waiting attempt renews its entry when the entry is older than this. */
const RENEWED_AFTER_MS = 20_000;

/** Creates the queue of a run's changes. */
export function createClaimChanges(session: RunSession): ClaimChanges {
  let changes: Change[] = [];
  let working: Promise<void> | undefined;

  function request(change: Change): void {
    changes.push(change);
    working ??= work().catch(session.fail);
  }

  /** All pending requests become one change of the list: a thousand cells that start together cost one. */
  async function work(): Promise<void> {
    while (changes.length > 0) {
      const batch = changes;
      changes = [];
      const resolves = await changeClaims(session, (before) => {
        let list = before;
        const answer = batch.map((change) => {
          const changed = apply(session, list, change);
          list = changed.list;
          return changed.resolve;
        });
        return { list, answer };
      });
      for (const resolve of resolves) resolve();
    }
    working = undefined;
  }

  return {
    acquire: (claim) => new Promise((resolve) => request({ type: 'acquire', claim, resolve })),
    release: (claim) => new Promise((resolve) => request({ type: 'release', claim, resolve })),
    async settled() {
      await working;
    },
  };
}

function apply(session: RunSession, list: ClaimsList, change: Change): Changed {
  const { claim } = change;
  const others = {
    claims: list.claims.filter((other) => !isSameAttempt(other, claim)),
    waiting: list.waiting.filter((other) => !isSameAttempt(other, claim)),
  };
  const holds = others.claims.length < list.claims.length;
  if (change.type === 'release') {
    const isListed = holds || others.waiting.length < list.waiting.length;
    return { list: isListed ? others : list, resolve: change.resolve };
  }
  const asking = waiterOf(claim, session.clock.wall());
  // What a cell has held since before a crash it keeps; in an adopted run, the claim may be of a later attempt.
  const isCovered = list.claims.some((other) => isSameCell(other, claim));
  const shortage = isCovered ? undefined : findShortage(list, asking, session.plan.pipeline.pools);
  // A container found by an adoption was started with its slots, or has ended if they were released: do not wait for them.
  const isStarted = adoptedCluster(session.facts, claim) !== undefined;
  const resolve = () => change.resolve(isStarted ? undefined : shortage);
  if (session.stopped) return { list, resolve };
  if (shortage) return { list: isStarted ? list : enqueue(list, asking), resolve };
  return { list: isCovered && !holds ? list : { ...others, claims: [...others.claims, claim] }, resolve };
}

function isSameCell(a: PoolClaim, b: PoolClaim): boolean {
  return a.runId === b.runId && a.step === b.step && a.cell === b.cell;
}

/** A waiting attempt keeps its place; its entry is only rewritten before it expires. */
function enqueue(list: ClaimsList, asking: Waiter): ClaimsList {
  const known = list.waiting.find((waiter) => isSameAttempt(waiter, asking));
  if (!known) return { ...list, waiting: [...list.waiting, asking] };
  if (Math.abs(asking.askedAt - known.askedAt) < RENEWED_AFTER_MS) return list;
  return { ...list, waiting: list.waiting.map((waiter) => (waiter === known ? asking : waiter)) };
}
