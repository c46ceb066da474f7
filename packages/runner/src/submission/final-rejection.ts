import type { RunSession } from '../session/run-session.ts';
import type { CreateFailure } from './create-reply.ts';

/** The service has rejected every request to create a container since `since`. */
export interface Rejection {
  readonly failure: CreateFailure;
  /** When the first of the requests was rejected. */
  readonly since: number;
  /** When what may be a gateway last replied to a request, which the service may have carried out. */
  readonly unclearAt: number | undefined;
}

/** Adds the newest reply to the rejections so far. Undefined: the service may still create the container. */
export function countRejection(
  before: Rejection | undefined,
  { failure, now }: { readonly failure: CreateFailure; readonly now: number },
): Rejection | undefined {
  if (failure.kind !== 'rejected' && !(failure.kind === 'doubt' && failure.rejects)) return undefined;
  return { failure, since: before?.since ?? now, unclearAt: failure.error.isForeign ? now : before?.unclearAt };
}

/**
 * When the rejection of an ID that the service does not know is final. An earlier request may have created the
 * container, which is then rejected as a duplicate although it is not visible yet: a request of this runner whose reply
 * is unknown (`lost`, or if a gateway replied), or of an earlier runner whose record is missing from the journal.
 * Otherwise, the rejection is final at once.
 */
export function finalFrom(
  session: RunSession,
  { rejection: { since, unclearAt }, lost }: { readonly rejection: Rejection; readonly lost: boolean },
): number {
  const { ms } = session.absenceLimit;
  if (lost) return (unclearAt ?? since) + ms;
  return session.resumedAt === undefined ? since : Math.max(since, session.resumedAt + ms);
}

/** Whether the ID is only queried from now on: each request to which a gateway replies would delay the end again. */
export function isOnlyQueried(session: RunSession, rejection: Rejection | undefined): boolean {
  if (rejection?.unclearAt === undefined) return false;
  return session.clock.now() >= rejection.since + session.absenceLimit.ms;
}

/**
 * Whether an earlier runner may have requested a container whose intent the journal has lost, and that is not visible
 * yet: then the ID is queried before the attempt is postponed, since another one may start in its place.
 */
export function isResumedLately({ resumedAt, clock, absenceLimit }: RunSession): boolean {
  return resumedAt !== undefined && clock.now() < resumedAt + absenceLimit.ms;
}
