import { isServiceError, isTerminalPhase, type ServiceErrorCode } from '@sluice/client';
import type { Missing } from '../session/attempt.ts';
import { type Attempt, refKey } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { addMissedLook, describeLoss, isLost } from './lost-container.ts';
import { observeContainer } from './observe-container.ts';
import { createAccountPoll, type PollAccount } from './poll-account.ts';
import { createPollPace } from './poll-pace.ts';
import { noteAnswered, noteUnanswered, warnOfAbsence } from './warn-of-replies.ts';

/** Follows the containers of a run until each has ended. */
export interface Watcher {
  /** Follows an attempt from now on; call it before the container can exist, so that no hint is lost. */
  track(attempt: Attempt): void;
  /** Looks at one container now; resolves when its answer has been taken, whatever it was. False: the service is away. */
  look(attempt: Attempt): Promise<boolean>;
  /** The attempt that a command speaks of, while it is followed. */
  find(at: Attempt['at']): Attempt | undefined;
  stop(): void;
}

/** Errors that say nothing of the container that was asked for, but of the way to the service. */
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
 * Polls every account that the run has containers on; where the service gives hints, what changed is asked for at once,
 * so that polls are only a safety net.
 */
export function createWatcher(session: RunSession): Watcher {
  const { service, clock, calls } = session;
  const attempts = new Map<string, Attempt>();
  const byCell = new Map<string, Attempt>();
  /** Looks under way; true: something changed meanwhile, look again. */
  const looking = new Map<Attempt, boolean>();
  const accounts = new Map<string, PollAccount>();
  const pace = createPollPace();
  let cancelTimer: (() => void) | undefined;
  let polling = false;

  const unwatch = service.watch((hint) => {
    const attempt = attempts.get(`${hint.clusterID}/${hint.accountID}/${hint.containerID}`);
    if (attempt?.confirmed) void look(attempt);
    else if (attempt) attempt.hinted = true;
  });

  async function look(attempt: Attempt): Promise<boolean> {
    if (attempt.over || session.stopped) return true;
    if (looking.has(attempt)) {
      looking.set(attempt, true);
      return true;
    }
    let isAnswered: boolean;
    do {
      looking.set(attempt, false);
      isAnswered = await lookOnce(attempt);
    } while (looking.get(attempt) && !attempt.over && !session.stopped);
    looking.delete(attempt);
    if (attempt.over) forget(attempt);
    return isAnswered;
  }

  async function lookOnce(attempt: Attempt): Promise<boolean> {
    try {
      const seen = await calls.add(() => service.containers.get(attempt.ref));
      if (session.stopped) return true;
      pace.answered();
      noteAnswered(session, attempt);
      if (observeContainer(session, attempt, seen)) return true;
      // While the ID shows something live, whatever it is, nothing more is started.
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

  /** Absence proves nothing by itself: it must last, and a full list must not have it either. */
  async function noteMissing(attempt: Attempt, found: Missing['found']): Promise<void> {
    if (!attempt.confirmed || attempt.over) return;
    const missing = addMissedLook(attempt.missing, { at: clock.now(), found });
    attempt.missing = missing;
    if (missing.lasted >= LONG_ABSENCE_MS) warnOfAbsence(session, attempt);
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
    if (!session.ownsLease()) return;
    const live = [...attempts.values()].filter((attempt) => attempt.confirmed && !attempt.over);
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
    const made = createAccountPoll(session, { clusterID, accountID }, { look, pace });
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
