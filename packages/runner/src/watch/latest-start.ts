import type { Container } from '@sluice/client';
import { compareCreateTimes, parseTime } from '../identity/compare-create-times.ts';
import type { AttemptFacts } from '../record/run-facts.ts';

/**
 * When a running container has begun at the latest, on the runner's clock: as long after its submission as the service
 * says that it began after its creation. Only times of one reply are compared, because the two clocks may differ by
 * hours. Undefined if the service does not say it, or says what cannot be relied on.
 */
export function findLatestStart(
  { submittedAt, container }: Pick<AttemptFacts, 'submittedAt' | 'container'>,
  { createTime, startTime }: Pick<Container, 'createTime' | 'startTime'>,
): number | undefined {
  if (submittedAt === undefined || !createTime || !startTime) return undefined;
  // A creation time that changes from reply to reply is computed each time, or is that of another container.
  if (!container.createTime || compareCreateTimes(container.createTime, createTime) !== 'same') return undefined;
  const [created, started] = [parseTime(createTime), parseTime(startTime)];
  // Otherwise hours may be missing.
  if (created.hasZone !== started.hasZone) return undefined;
  const waitedMs = started.at - created.at;
  // Both may be rounded, to either side.
  const slackMs = created.unitMs + started.unitMs;
  return waitedMs + slackMs >= 0 ? submittedAt + Math.max(0, waitedMs) + slackMs : undefined;
}
