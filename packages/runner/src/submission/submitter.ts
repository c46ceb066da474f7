import { backoffDelay, type InstanceType, isServiceError } from '@sluice/client';
import { attemptFacts, type Command } from '@sluice/run';
import { needsSlots, type PoolClaims } from '../concurrency/pool-claims.ts';
import type { AttemptPreparation } from '../data/prepare-attempt.ts';
import { type Attempt, createAttempt } from '../session/attempt.ts';
import type { Posted } from '../session/posted.ts';
import { pause, type RunSession } from '../session/run-session.ts';
import type { Watcher } from '../watch/watcher.ts';
import { addSecrets, prepareContainer } from './prepare-container.ts';
import { type Submission, submitAttempt } from './submit-attempt.ts';

type SubmitCommand = Extract<Command, { type: 'submit' }>;
type CancelCommand = Extract<Command, { type: 'cancel' }>;

/** Starts and cancels the containers of a run. */
export interface Submitter {
  /** Records the intent and returns the effect that follows when it is durable, or the end of an impossible attempt. */
  submit(command: SubmitCommand): Posted | (() => void);
  /** Cancels an attempt; the answer is its `ended`, with the outcome that the service reports. */
  cancel(command: CancelCommand): void;
  /** Tracks an attempt that an earlier runner submitted. */
  readopt(attempt: Attempt): void;
}

/** What the submitter depends on. */
export interface SubmitterParts {
  readonly watcher: Watcher;
  readonly instanceTypes: readonly InstanceType[];
  /** Prepares everything that the container mounts. */
  readonly preparation: Pick<AttemptPreparation, 'prepare' | 'explainRejection'>;
  readonly pools: PoolClaims;
}

type Start = Omit<Submission, 'attempt' | 'explainRejection'>;

/** Pause between two requests for the slots of a pool. */
const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** Pause between two requests to cancel a container. */
const CANCEL_BACKOFF = { initialMs: 1_000, maxMs: 60_000 };

/** Creates the submitter of a run. */
export function createSubmitter(session: RunSession, parts: SubmitterParts): Submitter {
  const state: SubmitterState = { ...parts, session, waitingSince: new Map() };
  return {
    submit: (command) => submit(state, command),
    cancel: (command) => cancel(state, command),
    readopt: (attempt) => parts.watcher.track(attempt),
  };
}

interface SubmitterState extends SubmitterParts {
  readonly session: RunSession;
  /** Container ID to the time of the first request for its slots, while others hold them. */
  readonly waitingSince: Map<string, number>;
}

function submit(state: SubmitterState, command: SubmitCommand): Posted | (() => void) {
  const { session, watcher } = state;
  const attempt = createAttempt(session, command);
  const known = attemptFacts(session.facts, command);
  const isIntended = known.id !== undefined && known.declined !== true;
  // An adopted run does not know what its lost journal intended: it queries every ID before posting it.
  const doubtful = known.id !== undefined || session.facts.adopted !== undefined;
  const prepared = prepareContainer(session, attempt, {
    escalationLevel: command.escalationLevel,
    instanceTypes: state.instanceTypes,
  });
  if (!prepared.ok) return reject(session, attempt, prepared.error);
  const spec = addSecrets(session, prepared.value);
  if (!spec.ok) return reject(session, attempt, spec.error);
  const intend = () =>
    session.note({
      kind: 'intent',
      at: session.clock.now(),
      ...attempt.at,
      id: attempt.ref.id,
      clusterID: attempt.ref.clusterID,
      instanceType: spec.value.instanceType,
      spec: prepared.value.digest,
    });
  const start = { spec: spec.value, doubtful, lost: doubtful && known.declined !== true };
  const shares = needsSlots(session, command);
  if (!isIntended && !shares) intend();
  return () => {
    watcher.track(attempt);
    const claim = () => claimThenLaunch(state, attempt, { intend: isIntended ? undefined : intend, ...start });
    void (shares ? claim() : launch(state, attempt, start)).catch(session.fail);
  };
}

/**
 * First the slots, then the intent: otherwise, after every crash, an attempt without slots would have to be queried.
 */
async function claimThenLaunch(
  state: SubmitterState,
  attempt: Attempt,
  start: Start & { readonly intend: (() => void) | undefined },
): Promise<void> {
  const { session, waitingSince } = state;
  const claimed = await state.pools.claim(attempt);
  if (session.stopped) return;
  if (!claimed.ok) {
    postpone(state, attempt, claimed.error);
    return;
  }
  waitingSince.delete(attempt.ref.id);
  if (start.intend) {
    start.intend();
    await session.durable();
  }
  await launch(state, attempt, start);
}

/** The longer the attempt has waited, the longer the pause before the next request. */
function postpone({ session, waitingSince }: SubmitterState, attempt: Attempt, detail: string): void {
  const at = session.clock.now();
  // Setting the clock back must not make it young for hours: it would send two requests per second.
  const since = Math.min(waitingSince.get(attempt.ref.id) ?? at, at);
  waitingSince.set(attempt.ref.id, since);
  attempt.closed = true;
  const until = at + Math.min(Math.max((at - since) / 4, SHORTEST_WAIT_MS), LONGEST_WAIT_MS);
  session.post({ type: 'postponed', at, ...attempt.at, reason: 'pool', detail, until });
}

async function launch(state: SubmitterState, attempt: Attempt, start: Start): Promise<void> {
  const { session, watcher, preparation } = state;
  const ready = preparation.prepare(attempt);
  // An attempt that was never requested and is canceled no longer needs its inputs, which may never arrive.
  const found = await (start.lost || ready === undefined ? ready : Promise.race([ready, untilCanceled(attempt)]));
  if (session.stopped) return;
  // If the container may exist already, only its own end counts: it may itself have caused the fault.
  const fault = start.lost ? undefined : found;
  const explainRejection = () => preparation.explainRejection(attempt);
  await submitAttempt(session, { attempt, ...start, fault, explainRejection });
  if (attempt.hinted && attempt.confirmed) await watcher.check(attempt);
  if (attempt.cancel && attempt.confirmed && !attempt.closed) await cancelUntilEnded(state, attempt);
}

function reject(session: RunSession, attempt: Attempt, message: string): Posted {
  const outcome = { result: 'failed', class: 'failed', message, permanent: true } as const;
  return { event: { type: 'ended', at: session.clock.now(), ...attempt.at, outcome } };
}

function cancel(state: SubmitterState, command: CancelCommand): void {
  const { session, watcher } = state;
  const attempt = watcher.find(command);
  if (!attempt || attempt.closed || attempt.cancel) return;
  attempt.cancel = command.reason;
  attempt.onCancel?.();
  session.note({ kind: 'cancelIntent', at: session.clock.now(), ...attempt.at, reason: command.reason });
  // An attempt that is still being submitted handles the cancellation there.
  if (attempt.confirmed) void cancelUntilEnded(state, attempt).catch(session.fail);
}

/** Repeats the request until the container has ended: a cancel request whose reply is lost may never have arrived. */
async function cancelUntilEnded({ session, watcher }: SubmitterState, attempt: Attempt): Promise<void> {
  await session.durable();
  for (let tries = 1; !attempt.closed && !session.stopped; tries++) {
    let asked = 0;
    try {
      await session.calls.add(() => session.service.containers.cancel(attempt.ref));
    } catch (error) {
      if (!isServiceError(error)) throw error;
      asked = error.retryAfterMs ?? 0;
    }
    await watcher.check(attempt);
    if (!attempt.closed) await pause(session, Math.max(asked, backoffDelay(CANCEL_BACKOFF, tries)));
  }
}

function untilCanceled(attempt: Attempt): Promise<undefined> {
  return new Promise((resolve) => {
    if (attempt.cancel) resolve(undefined);
    else attempt.onCancel = () => resolve(undefined);
  });
}
