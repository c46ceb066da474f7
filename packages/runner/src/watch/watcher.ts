import { type Attempt, refKey } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { type CheckContainer, createContainerCheck } from './check-container.ts';
import { createAccountPoll, type PollAccount } from './poll-account.ts';
import { createPollPace } from './poll-pace.ts';

/** Tracks the containers of a run until each has ended. */
export interface Watcher {
  /** Tracks an attempt from now on; call it before the container can exist, so that no hint is lost. */
  track(attempt: Attempt): void;
  /** Checks one container now; resolves when the answer has been handled. False: the service does not answer. */
  readonly check: CheckContainer;
  /** The attempt that a command refers to, while it is tracked. */
  find(at: Attempt['at']): Attempt | undefined;
  stop(): void;
}

/**
 * Polls every account in which the run has containers. If the service sends hints, changed containers are queried at
 * once, and the polls are only a safety net.
 */
export function createWatcher(session: RunSession): Watcher {
  const { clock } = session;
  const tracked = createTrackedAttempts();
  const accounts = new Map<string, PollAccount>();
  const pace = createPollPace();
  const check = createContainerCheck(session, { pace, onClosed: forget });
  let cancelTimer: (() => void) | undefined;
  let polling = false;

  const unwatch = session.service.watch(({ clusterID, accountID, containerID: id }) => {
    const attempt = tracked.ofContainer(refKey({ clusterID, accountID, id }));
    if (attempt?.confirmed) void check(attempt);
    else if (attempt) attempt.hinted = true;
  });

  function forget(attempt: Attempt): void {
    if (tracked.remove(attempt)) pace.ended(clock.now());
  }

  async function poll(): Promise<void> {
    // A runner with nothing to write would otherwise never learn that another one has replaced it.
    if (!session.ownsLease()) return;
    const live = tracked.list().filter((attempt) => attempt.confirmed && !attempt.closed);
    pace.begun();
    const polls = [...groupByAccount(live)].map(([key, there]) => {
      const { clusterID, accountID } = there[0]!.ref;
      const account = accounts.get(key) ?? createAccountPoll(session, { clusterID, accountID }, { check, pace });
      accounts.set(key, account);
      return account(there);
    });
    await Promise.all(polls);
  }

  async function pollAndPlan(): Promise<void> {
    cancelTimer = undefined;
    polling = true;
    await poll().catch(session.fail);
    polling = false;
    for (const attempt of tracked.list()) if (attempt.closed) forget(attempt);
    plan();
  }

  function plan(): void {
    if (cancelTimer || polling || session.stopped) return;
    const attempts = tracked.list();
    if (attempts.length === 0) return;
    const waitMs = pace.interval(clock.now(), attempts, unwatch !== undefined);
    cancelTimer = clock.setTimer(clock.now() + waitMs, () => void pollAndPlan());
  }

  return {
    track(attempt) {
      tracked.add(attempt);
      plan();
    },
    check,
    find: (at) => tracked.find(at),
    stop() {
      cancelTimer?.();
      unwatch?.();
    },
  };
}

/** The tracked attempts, by container and by cell. */
function createTrackedAttempts() {
  const byContainer = new Map<string, Attempt>();
  const byCell = new Map<string, Attempt>();
  const cellKey = (at: Attempt['at']) => `${at.step}/${at.cell}`;
  return {
    list: () => [...byContainer.values()],
    ofContainer: (key: string) => byContainer.get(key),
    find(at: Attempt['at']) {
      const attempt = byCell.get(cellKey(at));
      return attempt?.at.attempt === at.attempt ? attempt : undefined;
    },
    add(attempt: Attempt) {
      byContainer.set(refKey(attempt.ref), attempt);
      byCell.set(cellKey(attempt.at), attempt);
    },
    /** False: it was not tracked any more. */
    remove(attempt: Attempt): boolean {
      const isTracked = byContainer.get(refKey(attempt.ref)) === attempt;
      if (isTracked) byContainer.delete(refKey(attempt.ref));
      if (byCell.get(cellKey(attempt.at)) === attempt) byCell.delete(cellKey(attempt.at));
      return isTracked;
    },
  };
}

function groupByAccount(attempts: readonly Attempt[]): Map<string, Attempt[]> {
  const groups = new Map<string, Attempt[]>();
  for (const attempt of attempts) {
    const key = `${attempt.ref.clusterID}/${attempt.ref.accountID}`;
    const group = groups.get(key);
    if (group) group.push(attempt);
    else groups.set(key, [attempt]);
  }
  return groups;
}
