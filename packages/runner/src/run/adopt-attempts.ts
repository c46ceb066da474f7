import { isServiceError } from '@sluice/client';
import { attemptFacts, type SchedulerEvent } from '@sluice/run';
import { type Attempt, createAttempt } from '../session/attempt.ts';
import { isOwnContainer } from '../session/is-own-container.ts';
import { pause, type RunSession } from '../session/run-session.ts';
import { observeContainer } from '../watch/observe-container.ts';
import type { Watcher } from '../watch/watcher.ts';
import { findLatestCreation } from './record-requests.ts';

/**
 * Requests every container that an earlier runner may have left, and tracks those that exist; the scheduler receives
 * the answers before anything new starts. `leftAt` is the time of the last record of earlier runners. Returns the `running`
 * events of containers that were running before.
 */
export async function adoptAttempts(
  session: RunSession,
  watcher: Watcher,
  leftAt: number | undefined,
): Promise<SchedulerEvent[]> {
  const running: SchedulerEvent[] = [];
  const asked: Promise<unknown>[] = [];
  for (const live of session.scheduler.live()) {
    const known = attemptFacts(session.facts, live);
    if (known.id === undefined) continue;
    const attempt = createAttempt(session, live);
    attempt.createTime = known.container.createTime;
    attempt.confirmed = known.submitted;
    attempt.ran = known.runningAt !== undefined;
    if (attempt.ran) running.push({ type: 'running', at: known.runningAt!, ...attempt.at });
    if (attempt.confirmed) {
      watcher.track(attempt);
      asked.push(watcher.check(attempt));
    } else {
      if (leftAt !== undefined) session.facts.createdBy.set(attempt.ref.id, findLatestCreation(leftAt));
      asked.push(askForDoubtful(session, watcher, attempt));
    }
  }
  await Promise.all(asked);
  return running;
}

/**
 * A container that may or may not have been created: if it exists and is ours, it is tracked; otherwise its `submit`
 * continues.
 */
async function askForDoubtful(session: RunSession, watcher: Watcher, attempt: Attempt): Promise<void> {
  for (let tries = 0; tries < 3 && !session.stopped; tries++) {
    try {
      const seen = await session.calls.add(() => session.service.containers.get(attempt.ref));
      // Another container under our ID is handled by `submit`.
      if (!isOwnContainer(attempt, seen)) return;
      if (observeContainer(session, attempt, seen) && !attempt.closed) watcher.track(attempt);
      return;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      if (error.code === 'NOT_FOUND') return;
      await pause(session, error.retryAfterMs ?? 500);
    }
  }
}
