import { fail, ok, type Result, valuesOfCell } from '@sluice/core';
import { changeClaims, describeShortage, isSameAttempt, type PoolClaim, type Shortage } from '@sluice/home';
import type { SchedulerEvent } from '@sluice/run';
import { type Attempt, createAttempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { createClaimChanges } from './claim-changes.ts';
import { createAbandonment } from './is-abandoned.ts';
import { attemptKey, createWaitingClaims } from './waiting-claims.ts';

/**
 * The run's claims on the pools of its home, which all runs share. An attempt holds its slots from before its intent
 * until its end is durable. A crash in between leaves a claim: a run that needs the slots then checks whether the
 * attempt is still alive.
 */
export interface PoolClaims {
  /** Acquires all slots that the attempt's step needs, or none. The error names their holders. */
  claim(attempt: Attempt): Promise<Result<void, string>>;
  /** Releases slots when the end of their attempt is durable. */
  onEvent(event: SchedulerEvent): void;
  /** Call it after a replay, when the state of all containers is known: the run then claims slots for its live attempts only. */
  restore(): Promise<void>;
  /** Releases everything that is left at the end of the run. */
  close(): Promise<void>;
  /** Stops watching for changes; the claims stay. */
  stop(): void;
}

/** Creates the claims of a run. It holds none until `restore` or `claim`. */
export function createPoolClaims(session: RunSession): PoolClaims {
  const isAbandoned = createAbandonment(session);
  const changes = createClaimChanges(session);
  const waiting = createWaitingClaims(session);
  const held = new Map<string, PoolClaim>();
  /** Releases that wait until the end of their attempt is durable. */
  const ending = new Set<Promise<void>>();

  async function release(claim: PoolClaim): Promise<void> {
    held.delete(attemptKey(claim));
    waiting.remove(claim);
    await changes.release(claim);
  }

  async function dropAbandoned({ holders }: Shortage): Promise<boolean> {
    const abandoned = await findAbandoned(session, holders, isAbandoned);
    for (const claim of abandoned) if (claim.runId === session.runId) held.delete(attemptKey(claim));
    if (abandoned.length > 0) await removeClaims(session, abandoned);
    return abandoned.length > 0;
  }

  return {
    async claim(attempt) {
      const claim = claimOf(session, attempt);
      waiting.remove(claim);
      // Slots of attempts that have just ended in this run are released first: this attempt may have been started for them.
      await Promise.all(ending);
      let shortage = await changes.acquire(claim);
      if (shortage && (await dropAbandoned(shortage))) shortage = await changes.acquire(claim);
      if (shortage) {
        waiting.add(claim);
        return fail(describeShortage(shortage));
      }
      held.set(attemptKey(claim), claim);
      return ok(undefined);
    },
    onEvent(event) {
      if (event.type !== 'ended' && event.type !== 'postponed') return;
      const claim = held.get(attemptKey(event)) ?? (event.type === 'ended' ? waiting.find(event) : undefined);
      if (!claim) return;
      const released = session.durable().then(() => void release(claim));
      ending.add(released);
      void released.then(() => ending.delete(released));
    },
    restore: () => restoreClaims(session, (claim) => void held.set(attemptKey(claim), claim)),
    async close() {
      await Promise.all([...held.values(), ...waiting.list()].map(release));
      await changes.settled();
    },
    stop: () => waiting.stop(),
  };
}

async function findAbandoned(
  session: RunSession,
  holders: readonly PoolClaim[],
  isAbandoned: (claim: PoolClaim) => Promise<boolean>,
): Promise<readonly PoolClaim[]> {
  const doubtful = holders.filter((claim) => claim.runId !== session.runId || isForgotten(session, claim));
  const verdicts = await Promise.all(doubtful.map(isAbandoned));
  return doubtful.filter((_, at) => verdicts[at]);
}

async function removeClaims(session: RunSession, abandoned: readonly PoolClaim[]): Promise<void> {
  // A runner that has resumed the run since then holds the slots under its own epoch.
  const isGone = (claim: PoolClaim) => abandoned.some((a) => isSameAttempt(a, claim) && a.epoch === claim.epoch);
  await changeClaims(session, (list) => ({
    list: { ...list, claims: list.claims.filter((claim) => !isGone(claim)) },
    answer: undefined,
  }));
}

/** Replaces the claims of earlier runners of the run; `hold` receives those that it has now, before they are durable. */
async function restoreClaims(session: RunSession, hold: (claim: PoolClaim) => void): Promise<void> {
  if (Object.keys(session.plan.pipeline.pools).length === 0) return;
  const live = session.scheduler
    .live()
    .filter((at) => needsSlots(session, at) && mayBeThere(session, at))
    .map((at) => claimOf(session, createAttempt(session, at)));
  await changeClaims(session, (list) => {
    const own = list.claims.filter(({ runId }) => runId === session.runId);
    // An adopted run may still hold what it held before its journal was lost: each claim is checked when its slots are needed.
    const unknown = own.filter((claim) => isForgotten(session, claim));
    const kept = [...unknown.map((claim) => ({ ...claim, epoch: session.epoch })), ...live];
    for (const claim of kept) hold(claim);
    const isEmpty = kept.length + own.length === 0;
    const claims = [...list.claims.filter(({ runId }) => runId !== session.runId), ...kept];
    return { list: isEmpty ? list : { ...list, claims }, answer: undefined };
  });
}

/** Whether the attempts of a cell hold slots of a pool. */
export function needsSlots({ plan }: Pick<RunSession, 'plan'>, { step, cell }: Attempt['at']): boolean {
  return Object.values(valuesOfCell(plan, step, cell).pools).some((amount) => amount > 0);
}

function findAttempt(session: RunSession, at: { step: number; cell: number; attempt: number }) {
  return session.facts.known[at.step]?.[at.cell]?.attempts.find(({ attempt }) => attempt === at.attempt);
}

/** Whether the claim is one of this run that its new journal does not contain: an adoption does not know what was in flight. */
function isForgotten(session: RunSession, claim: PoolClaim): boolean {
  return session.facts.adopted !== undefined && findAttempt(session, claim) === undefined;
}

/** An attempt that the service has rejected holds nothing: it acquires its slots before its next request. */
function mayBeThere(session: RunSession, at: { step: number; cell: number; attempt: number }): boolean {
  const known = findAttempt(session, at);
  return known?.id !== undefined && known.declined !== true;
}

function claimOf(session: RunSession, { at, name, ref }: Attempt): PoolClaim {
  return {
    runId: session.runId,
    epoch: session.epoch,
    ...at,
    stepName: name.step,
    cellKey: name.cell,
    clusterID: ref.clusterID,
    accountID: ref.accountID,
    containerID: ref.id,
    slots: valuesOfCell(session.plan, at.step, at.cell).pools,
  };
}
