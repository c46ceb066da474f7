import type { RunFacts } from '../facts/run-facts.ts';
import type { RunPhase } from '../schemas/statuses.ts';

/** The message of a report about the run as a whole; undefined if there is none. */
export function endMessage({ canceledBy, stuck }: RunFacts, status: RunPhase): string | undefined {
  // A cancel request has no effect if all steps have already succeeded.
  if (canceledBy !== undefined && status !== 'succeeded') return `canceled by ${canceledBy}`;
  return stuck;
}
