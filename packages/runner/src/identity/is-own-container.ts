import type { Container } from '@sluice/client';
import { compareCreateTimes } from './compare-create-times.ts';
import type { AttemptName } from './container-id.ts';
import { carriesLabels } from './labels.ts';

/**
 * Whether the container that a service shows under an attempt's ID is the attempt's. The labels decide; where a reply
 * has none, the ID does, unless it was created at another time than ours (decision 0028). Its `runID` says nothing: it
 * changes when the service starts a container anew.
 */
export function isOwnContainer(
  attempt: { readonly name: AttemptName; readonly createTime?: string | undefined },
  seen: Container,
): boolean {
  if (seen.labels) return carriesLabels(seen, attempt.name);
  return compareCreateTimes(attempt.createTime, seen.createTime) !== 'far';
}
