import { claimsDirectory, findShortage, type PoolClaim, readClaims, waiterOf } from '@sluice/home';
import type { RunSession } from '../session/run-session.ts';

/** The run's attempts that were postponed until their pools have free slots. */
export interface WaitingClaims {
  add(claim: PoolClaim): void;
  remove(claim: AttemptIndexes): void;
  find(at: AttemptIndexes): PoolClaim | undefined;
  list(): readonly PoolClaim[];
  stop(): void;
}

/** An attempt within its run. */
type AttemptIndexes = Pick<PoolClaim, 'step' | 'cell' | 'attempt'>;

/**
 * Posts `capacityFreed` for a waiting attempt as soon as the list of claims has slots for it. Only where the machine
 * reports changes of the list; elsewhere, attempts are retried after their postponement.
 */
export function createWaitingClaims(session: RunSession): WaitingClaims {
  const waiting = new Map<string, PoolClaim>();
  let stopWatching: (() => void) | undefined;
  let checking = false;

  async function check(): Promise<void> {
    if (checking || waiting.size === 0 || session.stopped) return;
    checking = true;
    try {
      const list = await readClaims(session);
      if (session.stopped) return;
      const at = session.clock.now();
      for (const [key, claim] of waiting) {
        if (findShortage(list, waiterOf(claim, session.clock.wall()), session.plan.pipeline.pools)) continue;
        waiting.delete(key);
        const { step, cell, attempt } = claim;
        session.post({ type: 'capacityFreed', at, step, cell, attempt });
      }
    } finally {
      checking = false;
    }
  }

  return {
    add(claim) {
      waiting.set(attemptKey(claim), claim);
      stopWatching ??= session.disk.watch(claimsDirectory(session.home), () => void check().catch(session.fail));
    },
    remove: (claim) => void waiting.delete(attemptKey(claim)),
    find: (at) => waiting.get(attemptKey(at)),
    list: () => [...waiting.values()],
    stop: () => stopWatching?.(),
  };
}

/** Key of an attempt within its run. */
export function attemptKey({ step, cell, attempt }: AttemptIndexes): string {
  return `${step}/${cell}/${attempt}`;
}
