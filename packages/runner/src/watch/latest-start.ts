import type { Container } from '@sluice/client';
import type { AttemptFacts } from '@sluice/run';
import { compareCreateTimes, parseTime } from '../session/compare-create-times.ts';

/** What is known of a container's creation on the runner's clock. */
interface KnownCreation extends Pick<AttemptFacts, 'submittedAt' | 'container'> {
  /** When it was created at the latest, even if no runner has confirmed it. */
  readonly createdBy?: number | undefined;
}

/** By how much a creation time may be off that was read only once: some services compute it again for each reply. */
const UNSURE_MS = 5 * 60_000;

/**
 * When a running container has begun at the latest, on the runner's clock: as long after its creation as the service says
 * that it began after its creation. Only times of one reply are compared, because the two clocks may differ by hours.
 * Undefined if the service does not say it, or says what cannot be relied on.
 */
export function findLatestStart(
  known: KnownCreation,
  { createTime, startTime }: Pick<Container, 'createTime' | 'startTime'>,
): number | undefined {
  const createdAt = findLatestCreation(known, createTime);
  if (createdAt === undefined || !createTime || !startTime) return undefined;
  const [created, started] = [parseTime(createTime), parseTime(startTime)];
  // Otherwise hours may be missing.
  if (created.hasZone !== started.hasZone) return undefined;
  const waitedMs = started.at - created.at;
  // Both may be rounded, to either side.
  const slackMs = created.unitMs + started.unitMs;
  return waitedMs + slackMs >= 0 ? createdAt + Math.max(0, waitedMs) + slackMs : undefined;
}

function findLatestCreation({ createdBy, submittedAt, container }: KnownCreation, createTime?: string) {
  // Nothing shows yet whether it changes from reply to reply.
  if (submittedAt === undefined) return createdBy === undefined ? undefined : createdBy + UNSURE_MS;
  // A creation time that changes from reply to reply is computed each time, or is that of another container.
  if (!container.createTime || compareCreateTimes(container.createTime, createTime) !== 'same') return undefined;
  return Math.min(submittedAt, createdBy ?? submittedAt);
}
