import { fail, ok, type Result } from '@sluice/core';
import { adoptedCluster } from '../record/adopted-attempt.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import { type Attempt, createAttempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import {
  type Claim,
  type ClaimsList,
  changeClaims,
  claimsDirectory,
  isSameAttempt,
  readClaims,
  type Waiter,
} from './claims-list.ts';
import { describeShortage, findShortage, type Shortage } from './find-shortage.ts';
import { createAbandonment } from './is-abandoned.ts';

/**
 * The run's dealings with the pools of its home, which all runs share. An attempt holds its tokens from before its
 * intent until its end is durable: a crash in between leaves a claim, and whoever needs the tokens then asks whether
 * the attempt still lives.
 */
export interface PoolClaims {
  /** Takes all tokens that the attempt's step needs, or none. The error says who holds them. */
  claim(attempt: Attempt): Promise<Result<void, string>>;
  /** Gives tokens back when the end of their attempt is durable. */
  onEvent(event: SchedulerEvent): void;
  /** After a replay, when the service has been asked: the run's claims are those of its live attempts. */
  restore(): Promise<void>;
  /** Gives back what is left, at the end of the run. */
  close(): Promise<void>;
  /** Lets go of what tells it of changes: the claims stay. */
  stop(): void;
}

/** One change of the list of claims; `answer` hears whether it could be made. */
type Change =
  | { readonly type: 'take'; readonly claim: Claim; readonly answer: (shortage: Shortage | undefined) => void }
  | { readonly type: 'give'; readonly claim: Claim; readonly answer: () => void };

/** How old the word of somebody who waits may grow before he gives it again. */
const REMEMBERED_MS = 20_000;

export function createPoolClaims(session: RunSession): PoolClaims {
  const { disk, home, plan } = session;
  const sizes = plan.pipeline.pools;
  const isAbandoned = createAbandonment(session);
  const held = new Map<string, Claim>();
  /** Attempts that were put off until their pools have room. */
  const waiting = new Map<string, Claim>();
  /** Ends that are not durable yet. */
  const ending = new Set<Promise<void>>();
  let changes: Change[] = [];
  let working: Promise<void> | undefined;
  let stopWatching: (() => void) | undefined;
  let looking = false;

  function change(entry: Change): void {
    changes.push(entry);
    working ??= work().catch(session.fail);
  }

  /** Everything that has gathered is one change of the list: a thousand cells that start together cost one. */
  async function work(): Promise<void> {
    while (changes.length > 0) {
      const batch = changes;
      changes = [];
      const answers = await changeClaims(session, (before) => {
        const given: (() => void)[] = [];
        let list = before;
        for (const entry of batch) list = apply(list, entry, given);
        return { list, answer: given };
      });
      for (const answer of answers) answer();
    }
    working = undefined;
  }

  function apply(list: ClaimsList, entry: Change, answers: (() => void)[]): ClaimsList {
    const { claim } = entry;
    const others = {
      claims: list.claims.filter((other) => !isSameAttempt(other, claim)),
      waiting: list.waiting.filter((other) => !isSameAttempt(other, claim)),
    };
    const holds = others.claims.length < list.claims.length;
    if (entry.type === 'give') {
      answers.push(entry.answer);
      return holds || others.waiting.length < list.waiting.length ? others : list;
    }
    const asking = waiterOf(claim, session.clock.wall());
    // What a cell holds since before a crash it holds, whoever else waits; of an adopted run, maybe for a later attempt.
    const isCovered = list.claims.some((other) => isSameCell(other, claim));
    const shortage = isCovered ? undefined : findShortage(list, asking, sizes);
    // What an adoption found was started with its tokens, and has ended if they were given back: waiting would be for nothing.
    const isStarted = adoptedCluster(session.facts, claim) !== undefined;
    answers.push(() => entry.answer(isStarted ? undefined : shortage));
    if (session.stopped) return list;
    if (shortage) return isStarted ? list : queueUp(list, asking);
    return isCovered && !holds ? list : { ...others, claims: [...others.claims, claim] };
  }

  const take = (claim: Claim) => new Promise<Shortage | undefined>((answer) => change({ type: 'take', claim, answer }));
  const give = (claim: Claim) =>
    new Promise<void>((answer) => {
      held.delete(keyOf(claim));
      waiting.delete(keyOf(claim));
      change({ type: 'give', claim, answer });
    });

  /** Drops those holders that live no more. True: there were some. */
  async function dropAbandoned({ holders }: Shortage): Promise<boolean> {
    const doubtful = holders.filter((claim) => claim.runId !== session.runId || isForgotten(session, claim));
    const asked = await Promise.all(doubtful.map(isAbandoned));
    const abandoned = doubtful.filter((_, at) => asked[at]);
    if (abandoned.length === 0) return false;
    for (const claim of abandoned) if (claim.runId === session.runId) held.delete(keyOf(claim));
    // A runner that has taken the run up since then holds them under an epoch of its own.
    const isGone = (claim: Claim) => abandoned.some((a) => isSameAttempt(a, claim) && a.epoch === claim.epoch);
    await changeClaims(session, (list) => ({
      list: { ...list, claims: list.claims.filter((claim) => !isGone(claim)) },
      answer: undefined,
    }));
    return true;
  }

  /** Polling is what counts; where the machine tells of changes, the next one is looked at as it comes. */
  function wait(claim: Claim): void {
    waiting.set(keyOf(claim), claim);
    stopWatching ??= disk.watch(claimsDirectory(home), () => void look().catch(session.fail));
  }

  /** Tries those again at once for whom there is room now. */
  async function look(): Promise<void> {
    if (looking || waiting.size === 0 || session.stopped) return;
    looking = true;
    try {
      const list = await readClaims(session);
      if (session.stopped) return;
      const at = session.clock.now();
      for (const [key, claim] of waiting) {
        if (findShortage(list, waiterOf(claim, session.clock.wall()), sizes)) continue;
        waiting.delete(key);
        const { step, cell, attempt } = claim;
        session.post({ type: 'capacityFreed', at, step, cell, attempt });
      }
    } finally {
      looking = false;
    }
  }

  return {
    async claim(attempt) {
      const claim = claimOf(session, attempt);
      waiting.delete(keyOf(claim));
      // What has just ended in this run made room for this very attempt: its tokens come back first.
      await Promise.all(ending);
      let shortage = await take(claim);
      if (shortage && (await dropAbandoned(shortage))) shortage = await take(claim);
      if (shortage) {
        wait(claim);
        return fail(describeShortage(shortage));
      }
      held.set(keyOf(claim), claim);
      return ok(undefined);
    },
    onEvent(event) {
      if (event.type !== 'ended' && event.type !== 'postponed') return;
      const key = keyOf(event);
      const claim = held.get(key) ?? (event.type === 'ended' ? waiting.get(key) : undefined);
      if (!claim) return;
      const given = session.durable().then(() => void give(claim));
      ending.add(given);
      void given.then(() => ending.delete(given));
    },
    async restore() {
      if (Object.keys(sizes).length === 0) return;
      const live = session.scheduler
        .live()
        .filter((at) => needsSlots(session, at.step) && mayBeThere(session, at))
        .map((at) => claimOf(session, createAttempt(session, at)));
      await changeClaims(session, (list) => {
        const own = list.claims.filter(({ runId }) => runId === session.runId);
        // What an adopted run held before its journal was lost it may hold still: it asks for each when it comes to it.
        const unknown = own.filter((claim) => isForgotten(session, claim));
        const kept = [...unknown.map((claim) => ({ ...claim, epoch: session.epoch })), ...live];
        for (const claim of kept) held.set(keyOf(claim), claim);
        const isEmpty = kept.length + own.length === 0;
        const claims = [...list.claims.filter(({ runId }) => runId !== session.runId), ...kept];
        return { list: isEmpty ? list : { ...list, claims }, answer: undefined };
      });
    },
    async close() {
      await Promise.all([...held.values(), ...waiting.values()].map(give));
      await working;
    },
    stop: () => stopWatching?.(),
  };
}

/** Whether a step's attempts hold tokens of a pool. */
export function needsSlots(session: Pick<RunSession, 'plan'>, step: number): boolean {
  return Object.values(session.plan.steps[step]!.step.pools).some((amount) => amount > 0);
}

function isSameCell(a: Claim, b: Claim): boolean {
  return a.runId === b.runId && a.step === b.step && a.cell === b.cell;
}

/** Who has waited keeps his place; his word is only written anew when it is about to be forgotten. */
function queueUp(list: ClaimsList, asking: Waiter): ClaimsList {
  const known = list.waiting.find((waiter) => isSameAttempt(waiter, asking));
  if (!known) return { ...list, waiting: [...list.waiting, asking] };
  if (Math.abs(asking.askedAt - known.askedAt) < REMEMBERED_MS) return list;
  return { ...list, waiting: list.waiting.map((waiter) => (waiter === known ? asking : waiter)) };
}

function waiterOf({ runId, step, cell, attempt, tokens }: Claim, askedAt: number): Waiter {
  return { runId, step, cell, attempt, tokens, askedAt };
}

function findAttempt(session: RunSession, at: { step: number; cell: number; attempt: number }) {
  return session.facts.known[at.step]?.[at.cell]?.attempts.find(({ attempt }) => attempt === at.attempt);
}

/** A claim of the run's own that its new journal says nothing of, since an adoption cannot know what was under way. */
function isForgotten(session: RunSession, claim: Claim): boolean {
  return session.facts.adopted !== undefined && findAttempt(session, claim) === undefined;
}

/** An attempt that the service has turned away holds nothing: it asks for its tokens before it is posted again. */
function mayBeThere(session: RunSession, at: { step: number; cell: number; attempt: number }): boolean {
  const known = findAttempt(session, at);
  return known?.id !== undefined && known.declined !== true;
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
