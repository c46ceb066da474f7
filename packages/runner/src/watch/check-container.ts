import { isServiceError, isTerminalPhase, type ServiceErrorCode } from '@sluice/client';
import type { Attempt, Missing } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import type { RunPolls } from '../session/shared-polls.ts';
import { addMissedCheck, describeLoss, isLost } from './lost-container.ts';
import { observeContainer } from './observe-container.ts';
import { noteAnswered, noteUnanswered, warnOfAbsence } from './warn-of-replies.ts';

/** Checks one container now; resolves when the answer has been handled. False: the service does not answer. */
export type CheckContainer = (attempt: Attempt) => Promise<boolean>;

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

/** Learns whether the service answers. */
type ServiceAnswers = Pick<RunPolls, 'answered' | 'failed'>;

/** Creates the check of a run's containers. `onClosed` is called after a check that has closed the attempt. */
export function createContainerCheck(
  session: RunSession,
  {
    pollsOf,
    onClosed,
  }: { readonly pollsOf: (attempt: Attempt) => ServiceAnswers; readonly onClosed: (attempt: Attempt) => void },
): CheckContainer {
  return async (attempt) => {
    if (attempt.closed || session.stopped) return true;
    if (attempt.checking !== undefined) {
      attempt.checking = 'again';
      return true;
    }
    let isAnswered: boolean;
    do {
      attempt.checking = 'once';
      isAnswered = await checkOnce(session, attempt, pollsOf(attempt));
    } while (isOutOfDate(attempt) && !attempt.closed && !session.stopped);
    delete attempt.checking;
    if (attempt.closed) onClosed(attempt);
    return isAnswered;
  };
}

/** A function, since the compiler does not know that an attempt changes during a call. */
function isOutOfDate({ checking }: Attempt): boolean {
  return checking === 'again';
}

async function checkOnce(session: RunSession, attempt: Attempt, polls: ServiceAnswers): Promise<boolean> {
  try {
    const seen = await session.calls.add(() => session.service.containers.get(attempt.ref));
    if (session.stopped) return true;
    polls.answered();
    noteAnswered(session, attempt);
    if (observeContainer(session, attempt, seen)) return true;
    // While any live container exists under the ID, nothing more is started.
    if (isTerminalPhase(seen.phase ?? '')) await noteMissing(session, attempt, 'another');
    else delete attempt.missing;
    return true;
  } catch (error) {
    if (session.stopped) return true;
    if (isServiceError(error, 'NOT_FOUND')) {
      noteAnswered(session, attempt);
      await noteMissing(session, attempt, error.isForeign ? 'page' : 'nothing');
      return true;
    }
    const isAway = !isServiceError(error) || AWAY.has(error.code);
    if (isAway) polls.failed(error);
    else polls.answered();
    if (isServiceError(error)) noteUnanswered(session, attempt, error);
    return !isAway;
  }
}

/** Absence alone proves nothing: it must last, and a complete list must not contain the container either. */
async function noteMissing(session: RunSession, attempt: Attempt, found: Missing['found']): Promise<void> {
  if (!attempt.confirmed || attempt.closed) return;
  const missing = addMissedCheck(attempt.missing, { at: session.clock.now(), found });
  attempt.missing = missing;
  if (missing.lasted >= LONG_ABSENCE_MS) warnOfAbsence(session, attempt);
  if (!(await isLost(session, attempt, missing)) || attempt.closed || session.stopped) return;
  attempt.closed = true;
  const message = describeLoss(session, attempt, missing);
  const outcome = { result: 'failed', class: 'infrastructure', message } as const;
  session.post({ type: 'ended', at: session.clock.now(), ...attempt.at, outcome });
}
