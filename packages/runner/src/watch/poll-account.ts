import { type Container, isServiceError, isTerminalPhase, type Scope } from '@sluice/client';
import { compareCreateTimes } from '../identity/compare-create-times.ts';
import type { Attempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import type { CheckContainer } from './check-container.ts';
import { createListChoice, type ListChoice } from './list-choice.ts';
import { listContainers } from './list-containers.ts';
import { listEndedContainers } from './list-ended-containers.ts';
import { observeContainer } from './observe-container.ts';
import type { PollPace } from './poll-pace.ts';
import { warnOfList } from './warn-of-replies.ts';

/** What the polls of one account depend on. */
export interface AccountPollParts {
  readonly check: CheckContainer;
  readonly pace: PollPace;
}

/** Checks every tracked container of one account once. */
export type PollAccount = (live: readonly Attempt[]) => Promise<void>;

/** Below this many containers, single queries cost no more than a page of the list. */
const LIST_FROM = 4;
/**
 * If this many containers have disappeared from the list at once, the list of all finds their ends sooner than single
 * queries.
 */
const LIST_ENDED_FROM = 16;
/** Concurrent single queries in place of a list. */
const CHECKED_AT_ONCE = 32;

/** Uses one list if that is cheaper than single queries; single queries for what it does not contain, and if it fails. */
export function createAccountPoll(session: RunSession, scope: Scope, parts: AccountPollParts): PollAccount {
  const account: Account = { ...parts, session, scope, choice: createListChoice(), polls: 0 };
  return (live) => poll(account, live);
}

interface Account extends AccountPollParts {
  readonly session: RunSession;
  readonly scope: Scope;
  readonly choice: ListChoice;
  /** Polls so far. */
  polls: number;
}

async function poll(account: Account, live: readonly Attempt[]): Promise<void> {
  const { session, scope, check, choice, pace } = account;
  account.polls++;
  if (live.length < LIST_FROM) {
    await Promise.all(live.map(check));
    return;
  }
  const question = choice.next();
  if (question === 'single') {
    await checkEach(account, live);
    return;
  }
  try {
    await pollList(account, live, question === 'all');
  } catch (error) {
    if (!isServiceError(error)) throw error;
    pace.failed(error);
    if (session.stopped || !choice.failed(error.code === 'RESOURCE_EXHAUSTED') || !(await checkEach(account, live)))
      return;
    if (choice.managedAlone() && !session.stopped) warnOfList(session, scope, error);
  }
}

async function pollList(account: Account, live: readonly Attempt[], all: boolean): Promise<void> {
  const { session, scope, choice, pace } = account;
  const { service, clock, calls } = session;
  const started = clock.now();
  const wanted = new Set(live.map(({ ref }) => ref.id));
  const { found, items } = await calls.add(() => listContainers(service, { scope, wanted, all }));
  pace.listed(clock.now() - started);
  if (session.stopped) return;
  // An item without a phase says nothing.
  const seen = new Map([...found].filter(([, { phase }]) => phase !== undefined));
  const gone = live.filter(({ ref }) => !seen.has(ref.id));
  if (!all && gone.length >= LIST_ENDED_FROM) await judgeEnded(account, gone);
  if (session.stopped) return;
  await Promise.all(live.map((attempt) => judgeListed(account, attempt, seen.get(attempt.ref.id))));
  pace.askedAlone(gone.filter(({ closed }) => !closed).length);
  choice.listed({
    items,
    wanted: live.length,
    beyondRunning: [...seen.values()].filter(({ phase }) => phase !== 'Running').length,
    missed: gone.filter(({ closed, missing }) => !closed && missing === undefined).length,
  });
}

/** Errors are ignored here: the single queries that follow compensate for them. */
async function judgeEnded({ session, scope, pace }: Account, gone: readonly Attempt[]): Promise<void> {
  const byId = new Map(gone.map((attempt) => [attempt.ref.id, attempt]));
  const onEnded = (item: Container) => {
    const attempt = byId.get(item.id);
    if (attempt && !session.stopped && isEnough(attempt, item)) observeContainer(session, attempt, item);
  };
  try {
    await session.calls.add(() =>
      listEndedContainers(session.service, { scope, wanted: new Set(byId.keys()), onEnded }),
    );
  } catch (error) {
    if (!isServiceError(error)) throw error;
    pace.failed(error);
  }
}

function judgeListed(
  { session, check }: Account,
  attempt: Attempt,
  item: Container | undefined,
): Promise<unknown> | undefined {
  if (attempt.closed) return;
  if (!item || !isEnough(attempt, item) || !observeContainer(session, attempt, item)) return check(attempt);
  return;
}

/**
 * Starts with one container, a different one each time: a service that does not answer is not queried a thousand
 * times. False: it does not answer.
 */
async function checkEach({ session, check, pace, polls }: Account, live: readonly Attempt[]): Promise<boolean> {
  const first = live[polls % live.length]!;
  if (!(await check(first))) return false;
  const others = live.filter((attempt) => attempt !== first);
  pace.askedAlone(live.length);
  for (let from = 0; from < others.length && !session.stopped; from += CHECKED_AT_ONCE) {
    const answers = await Promise.all(others.slice(from, from + CHECKED_AT_ONCE).map(check));
    if (!answers.includes(true)) return false;
  }
  return true;
}

/** An item of a list has no labels: its end is only trusted if its creation time is the container's. */
function isEnough(attempt: Attempt, item: Container): boolean {
  return !isTerminalPhase(item.phase ?? '') || compareCreateTimes(attempt.createTime, item.createTime) === 'same';
}
