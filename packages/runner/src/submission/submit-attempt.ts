import { backoffDelay, type Container, type ContainerSpec, isServiceError, isTerminalPhase } from '@sluice/client';
import { adoptedCluster, attemptFacts, hasAdoptedSuccessor, type Outcome, type PostponeReason } from '@sluice/run';
import type { Attempt, Missing } from '../session/attempt.ts';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { addMissedCheck, describeLoss, isListed, isLost } from '../watch/lost-container.ts';
import { observeContainer } from '../watch/observe-container.ts';
import { noteCreated, noteUnanswered, noteUncreated, withoutId } from '../watch/warn-of-replies.ts';
import { type CreateFailure, classifyCreateFailure } from './create-reply.ts';
import { countRejection, finalFrom, isOnlyQueried, isResumedLately, type Rejection } from './final-rejection.ts';

/** The start of a submission. */
export interface Submission {
  readonly attempt: Attempt;
  readonly spec: ContainerSpec;
  /** An earlier POST of this ID may have arrived: query the ID before posting again. */
  readonly doubtful: boolean;
  /**
   * Its reply was lost, too: until the state of the ID is known, the attempt can be neither postponed nor abandoned.
   */
  readonly lost: boolean;
  /** Why no request may be sent: the ID is only queried. */
  readonly fault?: string | undefined;
  /** Resolves to what the rejection of the container means for the user; undefined if only the service knows. */
  readonly explainRejection: () => Promise<string | undefined>;
}

const DAY_MS = 86_400_000;
/** Somewhat less than the time for which a service keeps ended containers, since clocks differ. */
const FORGOTTEN_AFTER_MS = 7 * DAY_MS - 3_600_000;

type Step =
  | { readonly done: true }
  | {
      readonly done: false;
      readonly doubtful: boolean;
      /** The reply to a POST is unknown. */
      readonly lost?: boolean;
      /** A query was not answered. */
      readonly held?: boolean;
      readonly waitMs: number;
    };

/** The service does not know the ID, which proves little. `unsure`: a gateway may have written the reply. */
type Absence = 'absent' | 'unsure';

/** A failed POST, and what was known before it. */
interface Judged {
  readonly failure: CreateFailure;
  readonly doubtful: boolean;
  readonly held: boolean;
  /** The attempt is not postponed before the service has replied to a query of the ID. */
  readonly asks: boolean;
}

const DONE: Step = { done: true };
const QUERY_AGAIN: Step = { done: false, doubtful: true, waitMs: CALL_BACKOFF.initialMs };

/**
 * Creates the container of an attempt exactly once: always under the same ID. A lost reply is compensated by querying
 * that ID. Ends by posting one of `submitted`, `postponed` and `ended`. The intent must be durable before.
 */
export async function submitAttempt(session: RunSession, submission: Submission): Promise<void> {
  const { attempt, fault } = submission;
  let { doubtful, lost } = submission;
  /** Requested repeatedly, with growing pauses: the attempt can no longer be postponed. */
  let held = lost;
  let rejection: Rejection | undefined;
  for (let tries = 1; !session.stopped; tries++) {
    let step = doubtful ? await ask(session, submission) : 'absent';
    if (attempt.closed || session.stopped) return;
    if (typeof step === 'string') {
      if (attempt.cancel && !lost) return end(session, attempt, { result: 'canceled' });
      if (fault !== undefined && !isResumedLately(session)) return end(session, attempt, rejected(fault));
      if (rejection && (await isFinal(session, { attempt, rejection, lost, absence: step }))) {
        const reason = lost ? undefined : await submission.explainRejection();
        if (session.stopped) return;
        return conclude(session, attempt, { failure: rejection.failure, lost, reason });
      }
      const made =
        fault !== undefined || isOnlyQueried(session, rejection) ? QUERY_AGAIN : await post(session, submission);
      if (session.stopped) return;
      if ('done' in made) {
        step = made;
      } else {
        rejection = countRejection(rejection, { failure: made, now: session.clock.now() });
        const asks = !held && (!doubtful || step !== 'absent') && isResumedLately(session);
        step = judge(session, attempt, { failure: made, doubtful, held, asks });
      }
    }
    if (step.done || session.stopped) return;
    // The first query after a lost reply is immediate: usually the container exists.
    if (step.waitMs > 0) await pause(session, Math.max(step.waitMs, backoffDelay(CALL_BACKOFF, tries)));
    doubtful = step.doubtful;
    lost ||= step.lost ?? false;
    held ||= lost || step.held === true;
  }
}

/** Whether the rejected ID, which was queried since and is not known, cannot have a container of this attempt. */
async function isFinal(
  session: RunSession,
  given: {
    readonly attempt: Attempt;
    readonly rejection: Rejection;
    readonly lost: boolean;
    readonly absence: Absence;
  },
): Promise<boolean> {
  if (session.clock.now() < finalFrom(session, given)) return false;
  return given.absence === 'absent' || (await isListed(session, given.attempt)) === false;
}

/**
 * If a reply was lost, the container may have been started and be gone: the failure is retried under the ID of the next
 * attempt. Otherwise the rejection is permanent.
 */
function conclude(
  session: RunSession,
  attempt: Attempt,
  given: { readonly failure: CreateFailure; readonly lost: boolean; readonly reason: string | undefined },
): void {
  const { lost, reason } = given;
  const { error } = given.failure;
  const unknown = `the service kept rejecting the container, and does not know it: ${error.message}`;
  const outcome: Outcome = lost
    ? { result: 'failed', class: 'infrastructure', message: unknown }
    : rejected(reason ?? `the service rejected the container: ${error.message}`);
  end(session, attempt, outcome);
}

function rejected(message: string): Outcome {
  return { result: 'failed', class: 'failed', message, permanent: true };
}

/** Queries the ID. If it is unknown, which proves nothing, the same ID may be posted. */
async function ask(session: RunSession, { attempt, spec }: Submission): Promise<Step | Absence> {
  try {
    const seen = await session.calls.add(() => session.service.containers.get(attempt.ref));
    if (session.stopped) return DONE;
    warnOfOtherSpec(session, { attempt, spec }, seen);
    return adopt(session, attempt, seen);
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND')) {
      const absence: Absence = error.isForeign ? 'unsure' : 'absent';
      const message = absence === 'absent' ? describeForgotten(session, attempt) : undefined;
      if (message !== undefined) return lose(session, attempt, message);
      return adoptedCluster(session.facts, attempt.at) === undefined
        ? absence
        : missFound(session, attempt, error.isForeign ? 'page' : 'nothing');
    }
    if (!isServiceError(error)) throw error;
    noteUnanswered(session, attempt, error);
    return { done: false, doubtful: true, held: true, waitMs: error.retryAfterMs ?? 1 };
  }
}

/** An adoption has found the container: posting its ID again would start the attempt twice. */
async function missFound(session: RunSession, attempt: Attempt, found: Missing['found']): Promise<Step> {
  attempt.missing = addMissedCheck(attempt.missing, { at: session.clock.now(), found });
  if (!(await isLost(session, attempt, attempt.missing))) return QUERY_AGAIN;
  return session.stopped ? DONE : lose(session, attempt, describeLoss(session, attempt, attempt.missing));
}

function lose(session: RunSession, attempt: Attempt, message: string): Step {
  end(session, attempt, { result: 'failed', class: 'infrastructure', message });
  return DONE;
}

/** Why an unknown ID must not be posted again: it may have been started, ended and forgotten. */
function describeForgotten(session: RunSession, { at, name }: Attempt): string | undefined {
  if (hasAdoptedSuccessor(session.facts, name)) {
    return 'the service no longer knows it, and a later attempt was started by an earlier runner';
  }
  const since = attemptFacts(session.facts, at).doubtfulSince;
  if (since === undefined || session.clock.now() - since < FORGOTTEN_AFTER_MS) return undefined;
  const days = Math.round((session.clock.now() - since) / DAY_MS);
  return `the container is lost: it was requested ${days} days ago, and a service keeps ended containers for 7 days, so it is unknown whether it ran`;
}

/** Warns if an adopted run, whose plan was read again, has a container that differs from the plan. */
function warnOfOtherSpec(
  session: RunSession,
  { attempt, spec }: Pick<Submission, 'attempt' | 'spec'>,
  seen: Container,
) {
  const [was, is] = [seen.labels?.['sluice-spec'], spec.labels?.['sluice-spec']];
  if (session.facts.adopted === undefined || was === undefined || was === is) return;
  const { step, cell } = attempt.name;
  const name = cell === '' ? step : `${step}/${cell}`;
  const message = `${name} was started from another file, parameters or sources than the run was adopted with`;
  warn(session, message);
}

/** Sends one POST. */
async function post(session: RunSession, { attempt, spec }: Submission): Promise<Step | CreateFailure> {
  const { clusterID, accountID, id } = attempt.ref;
  try {
    const made = await session.calls.add(() =>
      session.service.containers.create({ clusterID, accountID }, spec, { containerID: id }),
    );
    return session.stopped ? DONE : adopt(session, attempt, made);
  } catch (error) {
    return session.stopped ? DONE : classifyCreateFailure(error);
  }
}

/** Accepts a container that exists under our ID. A container that was not created for this attempt is left alone. */
function adopt(session: RunSession, attempt: Attempt, seen: Container): Step {
  noteCreated(session, attempt);
  if (seen.id !== attempt.ref.id) return { done: false, doubtful: true, lost: true, waitMs: CALL_BACKOFF.initialMs };
  if (observeContainer(session, attempt, seen)) return DONE;
  const message = `the ID ${attempt.ref.id} is used by a container that Sluice did not create`;
  if (isTerminalPhase(seen.phase ?? '') || attempt.cancel) return lose(session, attempt, message);
  // While any live container exists under the ID, nothing more is started.
  reportWait(session, attempt, { phase: seen.phase ?? 'Unknown', message });
  return QUERY_AGAIN;
}

/** Reports once what delays the attempt. */
function reportWait(session: RunSession, attempt: Attempt, why: { phase: string; message: string }): void {
  if (attempt.reportedState === why.message) return;
  attempt.reportedState = why.message;
  const { step, cell } = attempt.name;
  session.report({ type: 'containerState', at: session.clock.now(), step, cell, ...why });
}

function reportRejection(session: RunSession, attempt: Attempt, { error }: CreateFailure): void {
  reportWait(session, attempt, { phase: 'Creating', message: withoutId(attempt, error) });
}

function judge(session: RunSession, attempt: Attempt, seen: Judged): Step {
  const { failure, doubtful, held, asks } = seen;
  const waitMs = failure.error.retryAfterMs ?? CALL_BACKOFF.initialMs;
  const isTransient = failure.kind === 'doubt' ? failure.full : failure.kind !== 'rejected';
  if (asks && isTransient) return { done: false, doubtful: true, waitMs };
  switch (failure.kind) {
    case 'notSent':
      noteUncreated(session, attempt, failure.error);
      return held ? { done: false, doubtful, waitMs } : postpone(session, attempt, { reason: 'unavailable', waitMs });
    case 'auth':
      return held ? { done: false, doubtful, waitMs } : postpone(session, attempt, { reason: 'unavailable', waitMs });
    case 'noSpace':
      return held ? { done: false, doubtful, waitMs } : postpone(session, attempt, { reason: 'storage', waitMs });
    case 'notYet':
      return held ? { done: false, doubtful, waitMs } : postpone(session, attempt, { reason: 'volume', waitMs });
    case 'doubt':
      // A container for which the service reported a lack of capacity was not started, or is found by the next query.
      if (failure.full && !held) return postpone(session, attempt, { reason: 'quota', waitMs });
      if (failure.rejects || (!failure.full && noteUncreated(session, attempt, failure.error))) {
        reportRejection(session, attempt, failure);
      }
      return { done: false, doubtful: true, lost: true, waitMs: doubtful ? waitMs : 0 };
    case 'rejected':
      // It may duplicate the container of an earlier request: query once before accepting the rejection.
      if (doubtful) reportRejection(session, attempt, failure);
      return { done: false, doubtful: true, waitMs: doubtful ? waitMs : 0 };
  }
}

const LONGEST_POSTPONEMENT_MS = 60_000;

function postpone(
  session: RunSession,
  attempt: Attempt,
  { reason, waitMs }: { readonly reason: PostponeReason; readonly waitMs: number },
): Step {
  if (attempt.cancel) {
    end(session, attempt, { result: 'canceled' });
    return DONE;
  }
  attempt.closed = true;
  const at = session.clock.now();
  session.post({ type: 'postponed', at, ...attempt.at, reason, until: at + Math.min(waitMs, LONGEST_POSTPONEMENT_MS) });
  return DONE;
}

function end(session: RunSession, attempt: Attempt, outcome: Outcome): void {
  if (attempt.closed) return;
  attempt.closed = true;
  session.post({ type: 'ended', at: session.clock.now(), ...attempt.at, outcome });
}
