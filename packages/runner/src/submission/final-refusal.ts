import type { RunSession } from '../session/run-session.ts';
import type { CreateFailure } from './create-reply.ts';

/** The service has rejected every request to create a container since `since`. */
export interface Refusal {
  readonly failure: CreateFailure;
  /** When the first of the requests was rejected. */
  readonly since: number;
}

/** Adds the newest reply to the rejections so far. Undefined: the service may still create the container. */
export function countRefusal(
  before: Refusal | undefined,
  { failure, now }: { readonly failure: CreateFailure; readonly now: number },
): Refusal | undefined {
  if (failure.kind !== 'refused' && !(failure.kind === 'doubt' && failure.refuses)) return undefined;
  return { failure, since: before?.since ?? now };
}

/**
 * When the rejection of an ID that the service does not know is final. An earlier request may have created the
 * container, which is then rejected as a duplicate although it is not visible yet: a request of this runner whose reply
 * is unknown (`lost`, or if a gateway replied), or of an earlier runner whose record is missing from the journal.
 * Otherwise, the rejection is final at once.
 */
export function finalFrom(
  session: RunSession,
  { refusal: { since }, lost }: { readonly refusal: Refusal; readonly lost: boolean },
): number {
  const { ms } = session.absenceLimit;
  if (lost) return since + ms;
  return session.resumedAt === undefined ? since : Math.max(since, session.resumedAt + ms);
}
