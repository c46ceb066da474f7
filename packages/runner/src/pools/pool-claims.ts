import { fail, ok, type Result } from '@sluice/core';
import { withHomeLock } from '../journal/home-lock.ts';
import type { RunSession } from '../run/run-session.ts';
import type { SchedulerEvent } from '../scheduler/event.ts';
import { type Attempt, createAttempt } from '../submission/attempt.ts';
import { type Claim, isSameAttempt, readClaims, writeClaims } from './claims-file.ts';
import { describeShortage, findShortage, type Shortage } from './find-shortage.ts';
import { isAbandoned } from './is-abandoned.ts';

/**
 * The run's dealings with the pools of its home, which all runs share. An attempt holds its tokens from before its
 * intent until its end is durable: a crash in between leaves a claim, and whoever needs the tokens then asks whether
 * the attempt still lives.
 */
export interface PoolClaims {
  /** Takes all tokens that the attempt's step needs, or none. The error says who holds them. */
  claim(attempt: Attempt): Promise<Result<void, string>>;
  /** Gives tokens back when the end of their attempt is durable. */
  hear(event: SchedulerEvent): void;
  /** After a replay, when the service has been asked: the run's claims are those of its live attempts. */
  restore(): Promise<void>;
  /** Gives back what is left, at the end of the run. */
  close(): Promise<void>;
}

/** One change of the list of claims; `answer` hears whether it could be made. */
type Change =
  | { readonly type: 'take'; readonly claim: Claim; readonly answer: (shortage: Shortage | undefined) => void }
  | { readonly type: 'give'; readonly claim: Claim; readonly answer: () => void };

export function createPoolClaims(session: RunSession): PoolClaims {
  const { disk, home, plan } = session;
  const sizes = plan.pipeline.pools;
  const held = new Map<string, Claim>();
  /** Ends that are not durable yet. */
  const ending = new Set<Promise<void>>();
  let waiting: Change[] = [];
  let working: Promise<void> | undefined;

  function change(entry: Change): void {
    waiting.push(entry);
    working ??= work().catch(session.bug);
  }

  /** Everything that has gathered is one change of the list: a thousand cells that start together cost one. */
  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await withHomeLock({ ...session, name: 'pools' }, async () => {
        const before = await readClaims(disk, home);
        const answers: (() => void)[] = [];
        let claims = before;
        for (const entry of batch) claims = apply(claims, entry, answers);
        if (claims !== before) await writeClaims(disk, home, claims);
        for (const answer of answers) answer();
      });
    }
    working = undefined;
  }

  function apply(claims: readonly Claim[], entry: Change, answers: (() => void)[]): readonly Claim[] {
    const others = claims.filter((other) => !isSameAttempt(other, entry.claim));
    if (entry.type === 'give') {
      answers.push(entry.answer);
      return others.length === claims.length ? claims : others;
    }
    const shortage = findShortage(others, entry.claim.tokens, sizes);
    answers.push(() => entry.answer(shortage));
    return shortage || session.stopped ? claims : [...others, entry.claim];
  }

  const take = (claim: Claim) => new Promise<Shortage | undefined>((answer) => change({ type: 'take', claim, answer }));
  const give = (claim: Claim) =>
    new Promise<void>((answer) => {
      held.delete(keyOf(claim));
      change({ type: 'give', claim, answer });
    });

  /** Drops those holders that live no more. True: there were some. */
  async function dropAbandoned({ holders }: Shortage): Promise<boolean> {
    const foreign = holders.filter(({ runId }) => runId !== session.runId);
    const asked = await Promise.all(foreign.map((claim) => isAbandoned(session, claim)));
    const abandoned = foreign.filter((_, at) => asked[at]);
    if (abandoned.length === 0) return false;
    await withHomeLock({ ...session, name: 'pools' }, async () => {
      const claims = await readClaims(disk, home);
      // A runner that has taken the run up since then holds them under an epoch of its own.
      const isGone = (claim: Claim) => abandoned.some((a) => isSameAttempt(a, claim) && a.epoch === claim.epoch);
      await writeClaims(
        disk,
        home,
        claims.filter((claim) => !isGone(claim)),
      );
    });
    return true;
  }

  return {
    async claim(attempt) {
      const claim = claimOf(session, attempt);
      // What has just ended in this run made room for this very attempt: its tokens come back first.
      await Promise.all(ending);
      let shortage = await take(claim);
      if (shortage && (await dropAbandoned(shortage))) shortage = await take(claim);
      if (shortage) return fail(describeShortage(shortage));
      held.set(keyOf(claim), claim);
      return ok(undefined);
    },
    hear(event) {
      if (event.type !== 'ended' && event.type !== 'postponed') return;
      const claim = held.get(keyOf(event));
      if (!claim) return;
      const given = session.durable().then(() => void give(claim));
      ending.add(given);
      void given.then(() => ending.delete(given));
    },
    async restore() {
      if (Object.keys(sizes).length === 0) return;
      const live = session.scheduler
        .live()
        .filter((at) => needsTokens(session, at.step) && findAttempt(session, at)?.id !== undefined)
        .map((at) => claimOf(session, createAttempt(session, at)));
      await withHomeLock({ ...session, name: 'pools' }, async () => {
        const claims = await readClaims(disk, home);
        const own = claims.filter(({ runId }) => runId === session.runId);
        // What an adopted run held before its journal was lost it may hold still: it asks for each when it comes to it.
        const unknown = session.facts.adopted ? own.filter((claim) => findAttempt(session, claim) === undefined) : [];
        const kept = [...unknown.map((claim) => ({ ...claim, epoch: session.epoch })), ...live];
        for (const claim of kept) held.set(keyOf(claim), claim);
        if (kept.length + own.length === 0) return;
        await writeClaims(disk, home, [...claims.filter(({ runId }) => runId !== session.runId), ...kept]);
      });
    },
    async close() {
      await Promise.all([...held.values()].map(give));
      await working;
    },
  };
}

/** Whether a step's attempts hold tokens of a pool. */
export function needsTokens(session: Pick<RunSession, 'plan'>, step: number): boolean {
  return Object.values(session.plan.steps[step]!.step.pools).some((amount) => amount > 0);
}

function findAttempt(session: RunSession, at: { step: number; cell: number; attempt: number }) {
  return session.facts.known[at.step]?.[at.cell]?.attempts.find(({ attempt }) => attempt === at.attempt);
}

function claimOf(session: RunSession, { at, name, ref }: Attempt): Claim {
  return {
    runId: session.runId,
    epoch: session.epoch,
    ...at,
    stepName: name.step,
    cellKey: name.cell,
    clusterID: ref.clusterID,
    accountID: ref.accountID,
    containerID: ref.id,
    tokens: session.plan.steps[at.step]!.step.pools,
  };
}

function keyOf({ step, cell, attempt }: { step: number; cell: number; attempt: number }): string {
  return `${step}/${cell}/${attempt}`;
}
