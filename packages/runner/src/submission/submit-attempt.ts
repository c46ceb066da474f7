import { type Container, type ContainerSpec, isServiceError } from '@sluice/client';
import { carriesLabels } from '../identity/labels.ts';
import { attemptFacts } from '../run/run-facts.ts';
import { pause, type RunSession } from '../run/run-session.ts';
import type { Outcome, PostponeReason } from '../scheduler/event.ts';
import { addMissedLook, describeLoss, isLost } from '../watch/lost-container.ts';
import { observeContainer } from '../watch/observe-container.ts';
import { adoptedCluster, hasAdoptedSuccessor } from './adopted-attempt.ts';
import type { Attempt } from './attempt.ts';
import { type CreateFailure, classifyCreateFailure } from './create-reply.ts';

/** What a submission starts from. */
export interface Submission {
  readonly attempt: Attempt;
  readonly spec: ContainerSpec;
  /** An earlier POST of this ID may have arrived: ask before posting again. */
  readonly doubtful: boolean;
  /** Its answer was lost, too: until that is made up for, the attempt can neither be put off nor be given up. */
  readonly lost: boolean;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** How long a refusal is not believed while an earlier POST is in doubt. */
const DOUBT_MS = 60_000;

const DAY_MS = 86_400_000;
/** Some time before a service may forget what has ended, since clocks differ. */
const FORGOTTEN_AFTER_MS = 7 * DAY_MS - 3_600_000;

type Step = { readonly done: true } | { readonly done: false; readonly doubtful: boolean; readonly waitMs: number };

/** A failed POST, and what was known before it. */
type Judged = Pick<Submission, 'doubtful' | 'lost'> & { readonly failure: CreateFailure };

const DONE: Step = { done: true };

/**
 * Creates the container of an attempt exactly once: always under the same ID, and whatever reply is lost is
 * made up for by asking for that ID. Ends with one of `submitted`, `postponed` and `ended` posted. The intent must be
 * durable before.
 */
export async function submitAttempt(session: RunSession, submission: Submission): Promise<void> {
  const { attempt } = submission;
  let { doubtful, lost } = submission;
  let refusedSince: number | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; !session.stopped; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    let step = doubtful ? await ask(session, submission) : undefined;
    if (attempt.over || session.stopped) return;
    if (!step) {
      if (attempt.cancel && !lost) return end(session, attempt, { result: 'canceled' });
      const failure = await post(session, submission);
      if (failure && doubtful && isRefusal(failure))
        refusedSince = Math.min(refusedSince ?? Number.POSITIVE_INFINITY, session.clock.now());
      else refusedSince = undefined;
      if (failure && refusedSince !== undefined && session.clock.now() - refusedSince >= DOUBT_MS) {
        return giveUp(session, attempt, failure);
      }
      step = failure ? judge(session, attempt, { failure, doubtful, lost }) : DONE;
    }
    if (step.done || session.stopped) return;
    // The first question after a lost reply comes at once: mostly the container is there.
    if (step.waitMs > 0) await pause(session, Math.max(step.waitMs, pauseMs));
    doubtful = step.doubtful;
    lost ||= doubtful;
  }
}

/** Whether the service said no to the container itself, and not to the moment. */
function isRefusal(failure: CreateFailure): boolean {
  return failure.kind === 'refused' || failure.error.code === 'ALREADY_EXISTS';
}

/**
 * The ID can neither be found nor created, for so long that no earlier POST can still be on its way: it was started and
 * is gone, or never can be. The next attempt has an ID of its own.
 */
function giveUp(session: RunSession, attempt: Attempt, failure: CreateFailure): void {
  const message = `the service kept refusing the container, and does not know it: ${failure.error.message}`;
  end(session, attempt, { result: 'failed', class: 'infrastructure', message });
}

/** Asks for the ID. Undefined: nothing is there (which proves nothing), so the same ID may be posted. */
async function ask(session: RunSession, { attempt, spec }: Submission): Promise<Step | undefined> {
  try {
    const seen = await session.calls.add(() => session.service.containers.get(attempt.ref));
    if (session.stopped) return DONE;
    warnOfOtherSpec(session, { attempt, spec }, seen);
    return adopt(session, attempt, seen);
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND')) {
      const message = describeForgotten(session, attempt);
      if (message !== undefined) return lose(session, attempt, message);
      return adoptedCluster(session.facts, attempt.at) === undefined ? undefined : missFound(session, attempt);
    }
    if (!isServiceError(error)) throw error;
    return { done: false, doubtful: true, waitMs: error.retryAfterMs ?? 1 };
  }
}

/** An adoption has found the container: to post its ID again would start the attempt twice. */
async function missFound(session: RunSession, attempt: Attempt): Promise<Step> {
  attempt.missing = addMissedLook(attempt.missing, { at: session.clock.now(), found: 'nothing' });
  if (!(await isLost(session, attempt, attempt.missing)))
    return { done: false, doubtful: true, waitMs: FIRST_PAUSE_MS };
  return session.stopped ? DONE : lose(session, attempt, describeLoss(session, attempt, attempt.missing));
}

function lose(session: RunSession, attempt: Attempt, message: string): Step {
  end(session, attempt, { result: 'failed', class: 'infrastructure', message });
  return DONE;
}

/** Why an ID that is not found must not be posted again: it may have been started, ended and forgotten. */
function describeForgotten(session: RunSession, { at, name }: Attempt): string | undefined {
  if (hasAdoptedSuccessor(session.facts, name)) {
    return 'the service does not know it any more, and a later attempt was started by an earlier runner';
  }
  const since = attemptFacts(session.facts, at).doubtfulSince;
  if (since === undefined || session.clock.now() - since < FORGOTTEN_AFTER_MS) return undefined;
  const days = Math.round((session.clock.now() - since) / DAY_MS);
  return `the container is lost: it was asked for ${days} days ago, and a service keeps what has ended for 7 days, so nobody knows whether it ran`;
}

/** Of an adopted run, whose plan was read again: what runs may not be what the plan says. */
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
  session.report({ type: 'warning', at: session.clock.now(), message });
}

/** Posts once. Undefined: the container is there and ours. */
async function post(session: RunSession, { attempt, spec }: Submission): Promise<CreateFailure | undefined> {
  const { clusterID, accountID, id } = attempt.ref;
  try {
    const made = await session.calls.add(() =>
      session.service.containers.create({ clusterID, accountID }, spec, { containerID: id }),
    );
    if (session.stopped || adopt(session, attempt, made).done) return undefined;
    throw new Error(`could not create container ${id}: the service answered with container ${made.id}`);
  } catch (error) {
    return session.stopped ? undefined : classifyCreateFailure(error);
  }
}

/** Takes a container that answers under our ID; one that was not made for this attempt is left alone. */
function adopt(session: RunSession, attempt: Attempt, seen: Container): Step {
  if (seen.id !== attempt.ref.id) return { done: false, doubtful: true, waitMs: FIRST_PAUSE_MS };
  if (seen.labels && !carriesLabels(seen, attempt.name)) {
    return lose(session, attempt, `the ID ${attempt.ref.id} is taken by a container that is not ours`);
  }
  observeContainer(session, attempt, seen);
  return DONE;
}

function judge(session: RunSession, attempt: Attempt, seen: Judged): Step {
  const { failure, doubtful, lost } = seen;
  const waitMs = failure.error.retryAfterMs ?? FIRST_PAUSE_MS;
  switch (failure.kind) {
    case 'notSent':
    case 'auth':
      return lost ? { done: false, doubtful, waitMs } : postpone(session, attempt, 'unavailable', waitMs);
    case 'noSpace':
      return lost ? { done: false, doubtful, waitMs } : postpone(session, attempt, 'storage', waitMs);
    case 'notYet':
      return lost ? { done: false, doubtful, waitMs } : postpone(session, attempt, 'volume', waitMs);
    case 'doubt':
      // What the service said it has no room for was not started, or is found by asking at the next try.
      if (failure.full && !lost) return postpone(session, attempt, 'quota', waitMs);
      return { done: false, doubtful: true, waitMs: doubtful ? waitMs : 0 };
    case 'refused': {
      if (doubtful) return { done: false, doubtful, waitMs };
      const message = `the service refused the container: ${failure.error.message}`;
      end(session, attempt, { result: 'failed', class: 'failed', message, permanent: true });
      return DONE;
    }
  }
}

const LONGEST_POSTPONEMENT_MS = 60_000;

function postpone(session: RunSession, attempt: Attempt, reason: PostponeReason, waitMs: number): Step {
  if (attempt.cancel) {
    end(session, attempt, { result: 'canceled' });
    return DONE;
  }
  attempt.over = true;
  const at = session.clock.now();
  session.post({ type: 'postponed', at, ...attempt.at, reason, until: at + Math.min(waitMs, LONGEST_POSTPONEMENT_MS) });
  return DONE;
}

function end(session: RunSession, attempt: Attempt, outcome: Outcome): void {
  if (attempt.over) return;
  attempt.over = true;
  session.post({ type: 'ended', at: session.clock.now(), ...attempt.at, outcome });
}
