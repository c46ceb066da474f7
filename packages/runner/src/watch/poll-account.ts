import { type Container, isServiceError, isTerminalPhase, type Scope } from '@sluice/client';
import { compareCreateTimes } from '../identity/compare-create-times.ts';
import type { Attempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { createListChoice } from './list-choice.ts';
import { listContainers } from './list-containers.ts';
import { listEndedContainers } from './list-ended-containers.ts';
import { observeContainer } from './observe-container.ts';
import type { PollPace } from './poll-pace.ts';
import { warnOfList } from './warn-of-replies.ts';

export interface AccountPollParts {
  /** Looks at one container; false: the service is away. */
  readonly look: (attempt: Attempt) => Promise<boolean>;
  readonly pace: PollPace;
}

/** Looks once at every container of one account that a run follows. */
export type PollAccount = (live: readonly Attempt[]) => Promise<void>;

/** Below this many containers, single gets cost no more than a page of the list. */
const LIST_FROM = 4;
/** From so many containers that left the list at once, the list of everything tells of them sooner than single gets. */
const LIST_ENDED_FROM = 16;
/** Containers that are asked for at once, each by itself, in place of a list. */
const ASKED_AT_ONCE = 32;

/** One list where that is cheaper than single gets; single gets for what it does not show, and in its place where it fails. */
export function createAccountPoll(session: RunSession, scope: Scope, { look, pace }: AccountPollParts): PollAccount {
  const { service, clock, calls } = session;
  const choice = createListChoice();
  let polls = 0;

  async function poll(live: readonly Attempt[]): Promise<void> {
    polls++;
    if (live.length < LIST_FROM) {
      await Promise.all(live.map(look));
      return;
    }
    const question = choice.next();
    if (question === 'single') {
      await askEach(live);
      return;
    }
    try {
      await pollList(live, question === 'all');
    } catch (error) {
      if (!isServiceError(error)) throw error;
      pace.failed(error);
      if (session.stopped || !choice.failed(error.code === 'RESOURCE_EXHAUSTED') || !(await askEach(live))) return;
      if (choice.managedAlone() && !session.stopped) warnOfList(session, scope, error);
    }
  }

  async function pollList(live: readonly Attempt[], all: boolean): Promise<void> {
    const started = clock.now();
    const wanted = new Set(live.map(({ ref }) => ref.id));
    const { found, items } = await calls.add(() => listContainers(service, { scope, wanted, all }));
    pace.listed(clock.now() - started);
    if (session.stopped) return;
    // An item without a phase says nothing.
    const seen = new Map([...found].filter(([, { phase }]) => phase !== undefined));
    const gone = live.filter(({ ref }) => !seen.has(ref.id));
    if (!all && gone.length >= LIST_ENDED_FROM) await judgeEnded(gone);
    if (session.stopped) return;
    await Promise.all(live.map((attempt) => judgeListed(attempt, seen.get(attempt.ref.id))));
    pace.askedAlone(gone.filter(({ over }) => !over).length);
    choice.listed({
      items,
      wanted: live.length,
      beyondRunning: [...seen.values()].filter(({ phase }) => phase !== 'Running').length,
      missed: gone.filter(({ over, missing }) => !over && missing === undefined).length,
    });
  }

  /** Whatever goes wrong here is made up for by the single gets that follow. */
  async function judgeEnded(gone: readonly Attempt[]): Promise<void> {
    const byId = new Map(gone.map((attempt) => [attempt.ref.id, attempt]));
    const onEnded = (item: Container) => {
      const attempt = byId.get(item.id);
      if (attempt && !session.stopped && isEnough(attempt, item)) observeContainer(session, attempt, item);
    };
    try {
      await calls.add(() => listEndedContainers(service, { scope, wanted: new Set(byId.keys()), onEnded }));
    } catch (error) {
      if (!isServiceError(error)) throw error;
      pace.failed(error);
    }
  }

  function judgeListed(attempt: Attempt, item: Container | undefined): Promise<unknown> | undefined {
    if (attempt.over) return;
    if (!item || !isEnough(attempt, item) || !observeContainer(session, attempt, item)) return look(attempt);
    return;
  }

  /** The first one alone, another one each time: a service that is away is not asked a thousand times. False: it is. */
  async function askEach(live: readonly Attempt[]): Promise<boolean> {
    const first = live[polls % live.length]!;
    if (!(await look(first))) return false;
    const others = live.filter((attempt) => attempt !== first);
    pace.askedAlone(live.length);
    for (let from = 0; from < others.length && !session.stopped; from += ASKED_AT_ONCE) {
      const answers = await Promise.all(others.slice(from, from + ASKED_AT_ONCE).map(look));
      if (!answers.includes(true)) return false;
    }
    return true;
  }

  return poll;
}

/** An item of a list has no labels: its end counts by itself only where its time is the container's own. */
function isEnough(attempt: Attempt, item: Container): boolean {
  return !isTerminalPhase(item.phase ?? '') || compareCreateTimes(attempt.createTime, item.createTime) === 'same';
}
