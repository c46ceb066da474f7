import type { AttemptFacts } from '../record/run-facts.ts';
import { verdictOf } from './verdict-of.ts';

/** Place and times of an attempt for reports and explanations. Times are in milliseconds since the Unix epoch. */
export interface AttemptOutline {
  readonly attempt: number;
  readonly result: 'open' | 'succeeded' | 'failed' | 'canceled';
  readonly containerID?: string;
  readonly clusterID?: string;
  readonly instanceType?: string;
  /** When the first request for the container was about to be sent. */
  readonly askedAt?: number;
  readonly submittedAt?: number;
  readonly runningAt?: number;
  readonly endedAt?: number;
  readonly publishedAt?: number;
}

/** Unknown values are omitted. */
export function outlineAttempt(attempt: AttemptFacts): AttemptOutline {
  const { id, clusterID, instanceType, askedAt, submittedAt, runningAt, endedAt, publishedAt } = attempt;
  return {
    attempt: attempt.attempt,
    result: verdictOf(attempt)?.result ?? 'open',
    ...(id !== undefined && { containerID: id }),
    ...(clusterID !== undefined && { clusterID }),
    ...(instanceType !== undefined && { instanceType }),
    ...(askedAt !== undefined && { askedAt }),
    ...(submittedAt !== undefined && { submittedAt }),
    ...(runningAt !== undefined && { runningAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(publishedAt !== undefined && { publishedAt }),
  };
}
