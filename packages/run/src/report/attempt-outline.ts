import type { FailureClass } from '@sluice/core';
import type { AttemptFacts } from '../facts/run-facts.ts';
import type { CellStatus } from './cell-status.ts';
import { verdictOf } from './verdict-of.ts';

/** Status, place and times of an attempt for reports and explanations. Times are in milliseconds since the Unix epoch. */
export interface AttemptOutline {
  readonly attempt: number;
  /** `submitting` until the service has accepted it. */
  readonly status: Extract<CellStatus, 'submitting' | 'pending' | 'running' | 'succeeded' | 'failed' | 'canceled'>;
  /** Why it failed; present exactly if the status is `failed`. */
  readonly reason?: FailureClass;
  readonly containerId?: string;
  readonly clusterId?: string;
  readonly instanceType?: string;
  /** When the first request for the container was about to be sent. */
  readonly requestedAt?: number;
  readonly submittedAt?: number;
  readonly runningAt?: number;
  readonly endedAt?: number;
  readonly publishedAt?: number;
}

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
