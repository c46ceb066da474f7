import { CONTAINER_PHASES, type Container, type Scope, type ServiceError } from '@sluice/client';
import type { Attempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';

/** The causes of which a run has been warned, and the containers without a usable reply. */
interface SentWarnings {
  readonly causes: Set<string>;
  readonly unanswered: WeakMap<Attempt, Unanswered>;
  /** By ID, since each postponed attempt is a new object. */
  readonly uncreated: Map<string, Unanswered>;
}

/** Consecutive requests about a container that had no usable reply. */
interface Unanswered {
  readonly since: number;
  count: number;
}

const sessions = new WeakMap<RunSession, SentWarnings>();
const KNOWN_PHASES: ReadonlySet<string> = new Set(CONTAINER_PHASES);
/** A run is warned of at most this many causes: more would add nothing. */
const MOST_CAUSES = 20;
/** A reply may be truncated once or twice. */
const UNREADABLE_OFTEN = 3;
const AWAY_MS = 60_000;
/** A service that is restarted is unreachable for some seconds. */
const RESTARTED_MS = 10_000;

/** Warns, once per phase, of a phase that the protocol does not define. */
export function warnOfPhase(session: RunSession, attempt: Attempt, { phase }: Pick<Container, 'phase'>): void {
  if (phase === undefined || KNOWN_PHASES.has(phase)) return;
  warnOnce(
    session,
    `phase ${phase}`,
    `the service reports the phase ${JSON.stringify(phase)} of ${nameOf(attempt)}, which the protocol does not name; a container in it counts as not ended, and the service is asked again`,
  );
}

/** Warns once that the list of an account's containers cannot be used. */
export function warnOfList(session: RunSession, { clusterID, accountID }: Scope, error: ServiceError): void {
  warnOnce(
    session,
    `list ${clusterID}/${accountID}`,
    `could not list the containers of ${clusterID}/${accountID}: ${error.message}; the service is asked for each of them instead, which takes more requests`,
  );
}

/** Warns once that the service has not reported a container for a long time: it may count as lost. */
export function warnOfAbsence(session: RunSession, attempt: Attempt): void {
  const seconds = Math.round(session.absenceLimit.ms / 1000);
  warnOnce(
    session,
    'absence',
    `the service does not show the container of ${nameOf(attempt)}; a container that it does not show for ${seconds} s counts as lost (limits.lostAfter in the profile)`,
  );
}

/**
 * A query about a container had no usable answer. Warns, once per cause, if that has lasted: nothing else would show
 * that the run waits for it.
 */
export function noteUnanswered(session: RunSession, attempt: Attempt, error: ServiceError): void {
  // A rejected login is reported separately.
  if (error.code === 'UNAUTHENTICATED') return;
  const { unanswered } = warningsOf(session);
  const at = session.clock.now();
  const seen = unanswered.get(attempt) ?? { since: at, count: 0 };
  unanswered.set(attempt, seen);
  seen.count++;
  const isLong = error.code === 'INVALID_REPLY' || at - seen.since >= AWAY_MS;
  if (seen.count < UNREADABLE_OFTEN || !isLong) return;
  const what = error.code === 'INVALID_REPLY' ? error.message.replaceAll(attempt.ref.id, '') : '';
  warnOnce(
    session,
    `${error.code} ${what}`,
    `could not get the state of ${nameOf(attempt)}: ${error.message}; its container may be running, and the service is asked again`,
  );
}

/** The service has answered a query about the container. */
export function noteAnswered(session: RunSession, attempt: Attempt): void {
  sessions.get(session)?.unanswered.delete(attempt);
}

/**
 * The container could not be created now, and is requested again. Warns, once per cause, if that has happened before:
 * nothing else would show that the run waits for it. True: it has happened before.
 */
export function noteUncreated(session: RunSession, attempt: Attempt, error: ServiceError): boolean {
  const { uncreated } = warningsOf(session);
  const at = session.clock.now();
  const seen = uncreated.get(attempt.ref.id) ?? { since: at, count: 0 };
  uncreated.set(attempt.ref.id, seen);
  seen.count++;
  const isLong = error.code !== 'UNREACHABLE' || at - seen.since >= RESTARTED_MS;
  if (seen.count < 2 || !isLong) return false;
  const message = withoutId(attempt, error);
  warnOnce(session, `create ${message}`, `could not start ${nameOf(attempt)}: ${message}; the service is asked again`);
  return true;
}

/** The container has been created, or is not requested any longer. */
export function noteCreated(session: RunSession, attempt: Attempt): void {
  sessions.get(session)?.uncreated.delete(attempt.ref.id);
}

/** The message of an error about a container, without its ID: it is the same for all containers, and users do not know IDs. */
export function withoutId({ ref }: Attempt, { message }: ServiceError): string {
  return message.replaceAll(`create container ${ref.id}`, 'create the container').replaceAll(ref.id, 'the container');
}

function warnOnce(session: RunSession, cause: string, message: string): void {
  const { causes } = warningsOf(session);
  if (causes.has(cause) || causes.size >= MOST_CAUSES) return;
  causes.add(cause);
  session.report({ type: 'warning', at: session.clock.now(), message, concerns: 'service' });
}

function warningsOf(session: RunSession): SentWarnings {
  const known = sessions.get(session);
  if (known) return known;
  const made: SentWarnings = { causes: new Set(), unanswered: new WeakMap(), uncreated: new Map() };
  sessions.set(session, made);
  return made;
}

function nameOf({ name: { step, cell } }: Attempt): string {
  return cell === '' ? step : `${step}/${cell}`;
}
