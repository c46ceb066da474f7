import { isServiceError, isTerminalPhase, type ServiceErrorCode } from '@sluice/client';
import type { Missing } from '../session/attempt.ts';
import { type Attempt, refKey } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { addMissedCheck, describeLoss, isLost } from './lost-container.ts';
import { observeContainer } from './observe-container.ts';
import { createAccountPoll, type PollAccount } from './poll-account.ts';
import { createPollPace } from './poll-pace.ts';
import { noteAnswered, noteUnanswered, warnOfAbsence } from './warn-of-replies.ts';

/** Tracks the containers of a run until each has ended. */
export interface Watcher {
  /** Tracks an attempt from now on; call it before the container can exist, so that no hint is lost. */
  track(attempt: Attempt): void;
  /** Checks one container now; resolves when the answer has been handled. False: the service does not answer. */
  check(attempt: Attempt): Promise<boolean>;
  /** The attempt that a command refers to, while it is tracked. */
  find(at: Attempt['at']): Attempt | undefined;
  stop(): void;
}

/** Errors that concern the connection to the service, not the requested container. */
const AWAY: ReadonlySet<ServiceErrorCode> = new Set([
  'UNREACHABLE',
  'NO_REPLY',
  'ABORTED',
  'UNAUTHENTICATED',
  'RESOURCE_EXHAUSTED',
  'UNAVAILABLE',
]);
/** An absence that is worth a warning. */
const LONG_ABSENCE_MS = 60_000;

/**
 * Polls every account in which the run has containers. If the service sends hints, changed containers are queried at
 * once, and the polls are only a safety net.
 */
export function createWatcher(session: RunSession): Watcher {
  const { service, clock, calls } = session;
  const attempts = new Map<string, Attempt>();
  const byCell = new Map<string, Attempt>();
  /** Checks in flight; true: something has changed meanwhile, check again. */
  const checking = new Map<Attempt, boolean>();
  const accounts = new Map<string, PollAccount>();
  const pace = createPollPace();
  let cancelTimer: (() => void) | undefined;
  let polling = false;

  const unwatch = service.watch((hint) => {
    const attempt = attempts.get(`${hint.clusterID}/${hint.accountID}/${hint.containerID}`);
    if (attempt?.confirmed) void check(attempt);
    else if (attempt) attempt.hinted = true;
  });

  async function check(attempt: Attempt): Promise<boolean> {
    if (attempt.closed || session.stopped) return true;
    if (checking.has(attempt)) {
      checking.set(attempt, true);
      return true;
    }
    let isAnswered: boolean;
    do {
      checking.set(attempt, false);
      isAnswered = await checkOnce(attempt);
    } while (checking.get(attempt) && !attempt.closed && !session.stopped);
    checking.delete(attempt);
    if (attempt.closed) forget(attempt);
    return isAnswered;
  }

  async function checkOnce(attempt: Attempt): Promise<boolean> {
    try {
      const seen = await calls.add(() => service.containers.get(attempt.ref));
      if (session.stopped) return true;
      pace.answered();
      noteAnswered(session, attempt);
      if (observeContainer(session, attempt, seen)) return true;
      // While any live container exists under the ID, nothing more is started.
      if (isTerminalPhase(seen.phase ?? '')) await noteMissing(attempt, 'another');
      else delete attempt.missing;
      return true;
    } catch (error) {
      if (session.stopped) return true;
      if (isServiceError(error, 'NOT_FOUND')) {
        noteAnswered(session, attempt);
        await noteMissing(attempt, error.isForeign ? 'page' : 'nothing');
        return true;
      }
      const isAway = !isServiceError(error) || AWAY.has(error.code);
      if (isAway) pace.failed(error);
      else pace.answered();
      if (isServiceError(error)) noteUnanswered(session, attempt, error);
      return !isAway;
    }
  }

  /** Absence alone proves nothing: it must last, and a complete list must not contain the container either. */
  async function noteMissing(attempt: Attempt, found: Missing['found']): Promise<void> {
    if (!attempt.confirmed || attempt.closed) return;
    const missing = addMissedCheck(attempt.missing, { at: clock.now(), found });
    attempt.missing = missing;
    if (missing.lasted >= LONG_ABSENCE_MS) warnOfAbsence(session, attempt);
    if (!(await isLost(session, attempt, missing)) || attempt.closed || session.stopped) return;
    attempt.closed = true;
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
    // A runner with nothing to write would otherwise never learn that another one has replaced it.
    if (!session.ownsLease()) return;
    const live = [...attempts.values()].filter((attempt) => attempt.confirmed && !attempt.closed);
    const byAccount = new Map<string, Attempt[]>();
    for (const attempt of live) {
      const key = `${attempt.ref.clusterID}/${attempt.ref.accountID}`;
      const there = byAccount.get(key);
      if (there) there.push(attempt);
      else byAccount.set(key, [attempt]);
    }
    pace.begun();
    await Promise.all([...byAccount].map(([key, there]) => accountPoll(key, there[0]!.ref)(there)));
  }

  function accountPoll(key: string, { clusterID, accountID }: Attempt['ref']): PollAccount {
    const known = accounts.get(key);
    if (known) return known;
    const made = createAccountPoll(session, { clusterID, accountID }, { check, pace });
    accounts.set(key, made);
    return made;
  }

  function plan(): void {
    if (cancelTimer || polling || session.stopped || attempts.size === 0) return;
    cancelTimer = clock.setTimer(
      clock.now() + pace.interval(clock.now(), attempts.values(), unwatch !== undefined),
      () => {
        cancelTimer = undefined;
        polling = true;
        void poll()
          .catch(session.fail)
          .finally(() => {
            polling = false;
            for (const attempt of attempts.values()) if (attempt.closed) forget(attempt);
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
    check,
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
