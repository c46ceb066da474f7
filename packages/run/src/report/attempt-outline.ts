import type { AttemptFacts } from '../facts/run-facts.ts';
import type { AttemptOutline } from '../schemas/attempt.ts';
import { verdictOf } from './verdict-of.ts';

/** Unknown values are omitted. */
export function outlineAttempt(attempt: AttemptFacts): AttemptOutline {
  const { id, clusterID, instanceType, askedAt, submittedAt, runningAt, endedAt, publishedAt } = attempt;
  const verdict = verdictOf(attempt);
  return {
    attempt: attempt.attempt,
    status: verdict?.result ?? presentStatus(attempt),
    ...(verdict?.result === 'failed' && { reason: verdict.class }),
    ...(id !== undefined && { containerId: id }),
    ...(clusterID !== undefined && { clusterId: clusterID }),
    ...(instanceType !== undefined && { instanceType }),
    ...(askedAt !== undefined && { requestedAt: askedAt }),
    ...(submittedAt !== undefined && { submittedAt }),
    ...(runningAt !== undefined && { runningAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(publishedAt !== undefined && { publishedAt }),
  };
}

function presentStatus({ submittedAt, runningAt }: AttemptFacts): 'submitting' | 'pending' | 'running' {
  if (runningAt !== undefined) return 'running';
  return submittedAt === undefined ? 'submitting' : 'pending';
}
