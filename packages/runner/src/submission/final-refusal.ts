import type { RunSession } from '../session/run-session.ts';
import type { CreateFailure } from './create-reply.ts';

/** The service refuses to create a container, and nothing else came between. */
export interface Refusal {
  readonly failure: CreateFailure;
  /** When it refused at first. */
  readonly since: number;
}

/** The refusals in a row, with the newest reply to a create. Undefined: the service may still create it. */
export function countRefusal(
  before: Refusal | undefined,
  { failure, now }: { readonly failure: CreateFailure; readonly now: number },
): Refusal | undefined {
  if (failure.kind !== 'refused' && !(failure.kind === 'doubt' && failure.refuses)) return undefined;
  return { failure, since: before?.since ?? now };
}

/**
 * When a refusal of an ID that the service does not show is final. An earlier request of the ID may have made the
 * container, which is refused as a duplicate and not shown yet: one of this runner whose reply is unknown (`lost`, or
 * where a gateway replied), or one of an earlier runner whose record is missing from the journal. Without either, the
 * refusal is final at once.
 */
export function finalFrom(
  session: RunSession,
  { refusal: { since }, lost }: { readonly refusal: Refusal; readonly lost: boolean },
): number {
  const { ms } = session.absenceLimit;
  if (lost) return since + ms;
  return session.resumedAt === undefined ? since : Math.max(since, session.resumedAt + ms);
}
