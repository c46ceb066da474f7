import type { RunEntry } from '@sluice/host';

/** When a run began to execute, in milliseconds since the Unix epoch; of one that has not yet, when it was recorded. */
export function beganAt({ createdAt, startedAt }: Pick<RunEntry, 'createdAt' | 'startedAt'>): number {
  return Date.parse(startedAt ?? createdAt);
}
