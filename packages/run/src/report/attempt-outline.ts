import type { AttemptFacts } from '../facts/run-facts.ts';
import type { AttemptOutline } from '../schemas/attempt.ts';
import { omitUnknown } from './omit-unknown.ts';
import { verdictOf } from './verdict-of.ts';

/** Unknown values are omitted. */
export function outlineAttempt(attempt: AttemptFacts): AttemptOutline {
  const { id, clusterID, instanceType, askedAt, submittedAt, runningAt, endedAt, publishedAt } = attempt;
  const verdict = verdictOf(attempt);
  return omitUnknown<AttemptOutline>({
    attempt: attempt.attempt,
    status: verdict?.result ?? presentStatus(attempt),
    reason: verdict?.result === 'failed' ? verdict.class : undefined,
    containerId: id,
    clusterId: clusterID,
    instanceType,
    requestedAt: askedAt,
    submittedAt,
    runningAt,
    endedAt,
    publishedAt,
  });
}

function presentStatus({ submittedAt, runningAt }: AttemptFacts): 'submitting' | 'pending' | 'running' {
  if (runningAt !== undefined) return 'running';
  return submittedAt === undefined ? 'submitting' : 'pending';
}
