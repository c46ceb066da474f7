import type { Container } from '@sluice/client';
import type { AttemptName } from '@sluice/run';
import { compareCreateTimes } from './compare-create-times.ts';
import { carriesLabels } from './labels.ts';

/**
 * Whether the container that a service reports under an attempt's ID belongs to the attempt. The labels decide; if a
 * reply has none, the ID does, unless the creation time differs from ours (decision 0028). `runID` is ignored: it
 * changes when the service restarts a container.
 */
export function isOwnContainer(
  attempt: { readonly name: AttemptName; readonly createTime?: string | undefined },
  seen: Container,
): boolean {
  if (seen.labels) return carriesLabels(seen, attempt.name);
  return compareCreateTimes(attempt.createTime, seen.createTime) !== 'far';
}
