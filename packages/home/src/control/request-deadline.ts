import type { BootTime } from '@sluice/run';
import type { Clock } from '../clock.ts';

/** The part of the client's wait in which a request may be accepted; the rest is for the reply. */
const ACCEPTED_SHARE = 0.8;

/**
 * The deadline of a request whose client waits `replyMs` for the reply. It is earlier than the end of this wait, so that a
 * request that is reported as failed is never carried out later. Measured by a clock that cannot be set; undefined if the
 * machine has none.
 */
export function createDeadline(clock: Pick<Clock, 'boot'>, replyMs: number): BootTime | undefined {
  const now = clock.boot();
  return now && { id: now.id, uptimeMs: now.uptimeMs + replyMs * ACCEPTED_SHARE };
}

/**
 * Whether the client of a request has given up: the process that received it was stopped in the meantime. False without a
 * deadline.
 */
export function isLate(before: BootTime | undefined, clock: Pick<Clock, 'boot'>): boolean {
  const now = clock.boot();
  return before !== undefined && now !== undefined && (now.id !== before.id || now.uptimeMs > before.uptimeMs);
}

/** The reply to a late request. Its client no longer reads it. */
export const LATE = 'the request came too late; nothing was done';

/** The outcome of a request without a reply, as the end of a sentence that begins with the process that has not replied. */
export function describeUnanswered(before: BootTime | undefined): string {
  return before === undefined
    ? 'does not answer: it may still carry the request out'
    : 'does not answer, and the request has expired: it is not known whether it was carried out in time';
}
