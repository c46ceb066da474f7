import { type Container, isServiceError } from '@sluice/client';
import type { RunSession } from '../run/run-session.ts';
import type { Missing } from '../submission/attempt.ts';
import { type Attempt, refKey } from '../submission/attempt.ts';
import { listEndedContainers } from './list-ended-containers.ts';
import { listLiveContainers } from './list-live-containers.ts';
import { addMissedLook, describeLoss, isLost } from './lost-container.ts';
import { observeContainer } from './observe-container.ts';
import { createPollPace } from './poll-pace.ts';

/** Follows the containers of a run until each has ended. */
export interface Watcher {
  /** Follows an attempt from now on; call it before the container can exist, so that no hint is lost. */
  track(attempt: Attempt): void;
  /** Looks at one container now; resolves when its answer has been taken, whatever it was. */
  look(attempt: Attempt): Promise<void>;
  /** The attempt that a command speaks of, while it is followed. */
  find(at: Attempt['at']): Attempt | undefined;
  stop(): void;
}

/** Below this many containers, single gets cost no more than a page of the list. */
const LIST_FROM = 4;
/** From so many containers that left the list at once, the list of everything tells of them sooner than single gets. */
const LIST_ENDED_FROM = 16;

/**
 * One list of all that is live per tick where that is cheaper than single gets; single gets for what left the list; and
 * where the service gives hints, a get at once for what changed, so that ticks are only a safety net.
 */
export function createWatcher(session: RunSession): Watcher {
  const { service, clock, calls } = session;
  const attempts = new Map<string, Attempt>();
  const byCell = new Map<string, Attempt>();
  /** Looks under way; true: something changed meanwhile, look again. */
  const looking = new Map<Attempt, boolean>();
  const pace = createPollPace();
  let cancelTimer: (() => void) | undefined;
  let polling = false;

  const unwatch = service.watch((hint) => {
    const attempt = attempts.get(`${hint.clusterID}/${hint.accountID}/${hint.containerID}`);
    if (attempt?.confirmed) void look(attempt);
    else if (attempt) attempt.hinted = true;
  });

  async function look(attempt: Attempt): Promise<void> {
    if (attempt.over || session.stopped) return;
    if (looking.has(attempt)) {
      looking.set(attempt, true);
      return;
    }
    do {
      looking.set(attempt, false);
      await lookOnce(attempt);
    } while (looking.get(attempt) && !attempt.over && !session.stopped);
    looking.delete(attempt);
    if (attempt.over) forget(attempt);
  }

  async function lookOnce(attempt: Attempt): Promise<void> {
    try {
      const seen = await calls.add(() => service.containers.get(attempt.ref));
      if (session.stopped) return;
      pace.answered();
      if (!observeContainer(session, attempt, seen)) await noteMissing(attempt, 'another');
    } catch (error) {
      if (session.stopped) return;
      if (isServiceError(error, 'NOT_FOUND')) await noteMissing(attempt, 'nothing');
      else pace.failed(error);
    }
  }

  /** Absence proves nothing by itself: it must last, and a full list must not have it either. */
  async function noteMissing(attempt: Attempt, found: Missing['found']): Promise<void> {
    if (!attempt.confirmed || attempt.over) return;
    const missing = addMissedLook(attempt.missing, { at: clock.now(), found });
    attempt.missing = missing;
    if (!(await isLost(session, attempt, missing)) || attempt.over || session.stopped) return;
    attempt.over = true;
    const message = describeLoss(session, attempt, missing);
    const outcome = { result: 'failed', class: 'infrastructure', message } as const;
    session.post({ type: 'ended', at: clock.now(), ...attempt.at, outcome });
  }

  function forget(attempt: Attempt): void {
    if (attempts.get(refKey(attempt.ref)) === attempt) {
      attempts.delete(refKey(attempt.ref));
      pace.ended(clock.now());
    }
    if (byCell.get(cellKey(attempt.at)) === attempt) byCell.delete(cellKey(attempt.at));
  }

  async function poll(): Promise<void> {
    // A runner that has nothing to write would never learn that it is not wanted any more.
    if (!session.holds()) return;
    const live = [...attempts.values()].filter((attempt) => attempt.confirmed && !attempt.over);
    const accounts = new Map<string, Attempt[]>();
    for (const attempt of live) {
      const key = `${attempt.ref.clusterID}/${attempt.ref.accountID}`;
      const there = accounts.get(key);
      if (there) there.push(attempt);
      else accounts.set(key, [attempt]);
    }
    await Promise.all([...accounts.values()].map(pollAccount));
  }

  async function pollAccount(live: readonly Attempt[]): Promise<void> {
    if (live.length < LIST_FROM) {
      await Promise.all(live.map(look));
      return;
    }
    try {
      const started = clock.now();
      const { clusterID, accountID } = live[0]!.ref;
      const items = await calls.add(() => listLiveContainers(service, { clusterID, accountID }, live.length));
      pace.listed(clock.now() - started);
      if (session.stopped) return;
      const gone = live.filter((attempt) => !items.has(attempt.ref.id));
      if (gone.length >= LIST_ENDED_FROM) await judgeEnded(gone);
      if (session.stopped) return;
      await Promise.all(live.map((attempt) => judgeListed(attempt, items.get(attempt.ref.id))));
    } catch (error) {
      pace.failed(error);
    }
  }

  /** Whatever goes wrong here is made up for by the single gets that follow. */
  async function judgeEnded(gone: readonly Attempt[]): Promise<void> {
    const { clusterID, accountID } = gone[0]!.ref;
    const scope = { clusterID, accountID };
    const byId = new Map(gone.map((attempt) => [attempt.ref.id, attempt]));
    const onEnded = (item: Container) => {
      const attempt = byId.get(item.id);
      if (attempt && !session.stopped) observeContainer(session, attempt, item);
    };
    try {
      await calls.add(() => listEndedContainers(service, { scope, wanted: new Set(byId.keys()), onEnded }));
    } catch (error) {
      if (!isServiceError(error)) throw error;
      pace.failed(error);
    }
  }

  function judgeListed(
    attempt: Attempt,
    item: Parameters<typeof observeContainer>[2] | undefined,
  ): Promise<void> | void {
    if (attempt.over) return;
    if (!item || !observeContainer(session, attempt, item)) return look(attempt);
  }

  function plan(): void {
    if (cancelTimer || polling || session.stopped || attempts.size === 0) return;
    cancelTimer = clock.setTimer(
      clock.now() + pace.interval(clock.now(), attempts.values(), unwatch !== undefined),
      () => {
        cancelTimer = undefined;
        polling = true;
        void poll()
          .catch(session.bug)
          .finally(() => {
            polling = false;
            for (const attempt of attempts.values()) if (attempt.over) forget(attempt);
            plan();
          });
      },
    );
  }

  return {
    track(attempt) {
      attempts.set(refKey(attempt.ref), attempt);
      byCell.set(cellKey(attempt.at), attempt);
      plan();
    },
    look,
    find(at) {
      const attempt = byCell.get(cellKey(at));
      return attempt?.at.attempt === at.attempt ? attempt : undefined;
    },
    stop() {
      cancelTimer?.();
      unwatch?.();
    },
  };
}

function cellKey(at: Attempt['at']): string {
  return `${at.step}/${at.cell}`;
}
