import type { AttemptFacts } from '../record/run-facts.ts';
import { verdictOf } from './verdict-of.ts';

/** Where and when an attempt went, as reports and explanations tell it. Times are milliseconds since the epoch. */
export interface AttemptOutline {
  readonly attempt: number;
  readonly result: 'open' | 'succeeded' | 'failed' | 'canceled';
  readonly containerID?: string;
  readonly clusterID?: string;
  readonly instanceType?: string;
  /** The service was about to be asked. */
  readonly askedAt?: number;
  readonly submittedAt?: number;
  readonly runningAt?: number;
  readonly endedAt?: number;
  readonly publishedAt?: number;
}

/** What is not known is left out. */
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
