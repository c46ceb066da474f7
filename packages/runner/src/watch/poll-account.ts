import { type Container, isServiceError, isTerminalPhase, type Scope, type ServiceError } from '@sluice/client';
import type { Attempt } from '../session/attempt.ts';
import { compareCreateTimes } from '../session/compare-create-times.ts';
import type { RunSession } from '../session/run-session.ts';
import type { PolledRun } from '../session/shared-polls.ts';
import { createListChoice, type ListChoice } from './list-choice.ts';
import { listContainers } from './list-containers.ts';
import { listEndedContainers } from './list-ended-containers.ts';
import { observeContainer } from './observe-container.ts';
import type { PollPace } from './poll-pace.ts';
import { warnOfList } from './warn-of-replies.ts';

/** An attempt whose container is polled. */
export interface Polled {
  readonly run: PolledRun;
  readonly attempt: Attempt;
}

/** The containers of an account. */
export interface PolledContainers {
  /** Of all runs. */
  readonly live: readonly Polled[];
  /** Of these, the containers of the runs for which the poll is made. */
  readonly due: readonly Polled[];
}

/** Polls an account once. Resolves to which of the containers are up to date, as far as the service answers. */
export type PollAccount = (containers: PolledContainers) => Promise<'all' | 'due'>;

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
export function createAccountPoll(scope: Scope, pace: PollPace): PollAccount {
  const account: Account = { scope, pace, choice: createListChoice(), polls: 0 };
  return (containers) => poll(account, containers);
}

interface Account {
  readonly scope: Scope;
  readonly pace: PollPace;
  readonly choice: ListChoice;
  /** Polls so far. */
  polls: number;
}

async function poll(account: Account, { live, due }: PolledContainers): Promise<'all' | 'due'> {
  const { scope, choice, pace } = account;
  if (due.length === 0) return 'due';
  account.polls++;
  if (live.length < LIST_FROM) {
    await Promise.all(due.map(check));
    return 'due';
  }
  const question = choice.next();
  if (question === 'single') {
    await checkEach(account, due);
    return 'due';
  }
  const asking = due[account.polls % due.length]!;
  try {
    await pollList(account, { live, asking: asking.run.session, all: question === 'all' });
    return 'all';
  } catch (error) {
    if (!isServiceError(error)) {
      asking.run.session.fail(error);
      return 'all';
    }
    pace.failed(error);
    if (error.code === 'UNAUTHENTICATED') {
      await checkOnePerRun(due);
      return 'all';
    }
    if (!choice.failed(error.code === 'RESOURCE_EXHAUSTED') || !(await checkEach(account, due))) return 'all';
    if (choice.managedAlone()) warnOfLists(live, scope, error);
    return 'due';
  }
}

async function pollList(
  account: Account,
  { live, asking, all }: { readonly live: readonly Polled[]; readonly asking: RunSession; readonly all: boolean },
): Promise<void> {
  const { scope, choice, pace } = account;
  const { service, clock, calls } = asking;
  const started = clock.now();
  const wanted = new Set(live.map(({ attempt }) => attempt.ref.id));
  const { found, items } = await calls.add(() => listContainers(service, { scope, wanted, all }));
  pace.listed(clock.now() - started);
  // An item without a phase says nothing.
  const seen = new Map([...found].filter(([, { phase }]) => phase !== undefined));
  const gone = live.filter(({ attempt, run }) => !seen.has(attempt.ref.id) && !run.session.stopped);
  if (!all && gone.length >= LIST_ENDED_FROM) await judgeEnded(account, { gone, asking });
  await Promise.all(live.map((polled) => judgeListed(polled, seen.get(polled.attempt.ref.id))));
  const missed = gone.filter(({ attempt, run }) => !attempt.closed && !run.session.stopped);
  pace.askedAlone(missed.length);
  choice.listed({
    items,
    wanted: live.length,
    beyondRunning: [...seen.values()].filter(({ phase }) => phase !== 'Running').length,
    missed: missed.filter(({ attempt }) => attempt.missing === undefined).length,
  });
}

/** Errors are ignored here: the single queries that follow compensate for them. */
async function judgeEnded(
  { scope, pace }: Account,
  { gone, asking }: { readonly gone: readonly Polled[]; readonly asking: RunSession },
): Promise<void> {
  const byId = new Map(gone.map((polled) => [polled.attempt.ref.id, polled]));
  const onEnded = (item: Container) => {
    const polled = byId.get(item.id);
    if (polled && !polled.run.session.stopped && isEnough(polled.attempt, item)) observe(polled, item);
  };
  try {
    await asking.calls.add(() => listEndedContainers(asking.service, { scope, wanted: new Set(byId.keys()), onEnded }));
  } catch (error) {
    if (!isServiceError(error)) throw error;
    pace.failed(error);
  }
}

function judgeListed(polled: Polled, item: Container | undefined): Promise<unknown> | undefined {
  const { attempt, run } = polled;
  if (attempt.closed || run.session.stopped) return;
  if (!item || !isEnough(attempt, item) || !observe(polled, item)) return check(polled);
  return;
}

/** An unexpected error ends only the run that it concerns. */
function observe({ run, attempt }: Polled, item: Container): boolean {
  try {
    return observeContainer(run.session, attempt, item);
  } catch (error) {
    run.session.fail(error);
    return true;
  }
}

/** As `observe`, after a single query. */
async function check({ run, attempt }: Polled): Promise<boolean> {
  try {
    return await run.check(attempt);
  } catch (error) {
    run.session.fail(error);
    return true;
  }
}

/**
 * Starts with one container, a different one each time: a service that does not answer is not queried a thousand
 * times. False: it does not answer.
 */
async function checkEach({ pace, polls }: Account, due: readonly Polled[]): Promise<boolean> {
  const first = due[polls % due.length]!;
  if (!(await check(first))) return false;
  const others = due.filter((polled) => polled !== first);
  pace.askedAlone(due.length);
  for (let from = 0; from < others.length; from += CHECKED_AT_ONCE) {
    const answers = await Promise.all(others.slice(from, from + CHECKED_AT_ONCE).map(check));
    if (!answers.includes(true)) return false;
  }
  return true;
}

/** So that every run learns that the login is rejected. */
async function checkOnePerRun(due: readonly Polled[]): Promise<void> {
  const oneOfEach = new Map(due.map((polled) => [polled.run, polled]));
  await Promise.all([...oneOfEach.values()].map(check));
}

function warnOfLists(live: readonly Polled[], scope: Scope, error: ServiceError): void {
  for (const session of new Set(live.map(({ run }) => run.session))) {
    if (!session.stopped) warnOfList(session, scope, error);
  }
}

/** An item of a list has no labels: its end is only trusted if its creation time is the container's. */
function isEnough(attempt: Attempt, item: Container): boolean {
  return !isTerminalPhase(item.phase ?? '') || compareCreateTimes(attempt.createTime, item.createTime) === 'same';
}
