import type { RunFacts } from '../record/run-facts.ts';
import type { RunPhase } from './run-report.ts';

/** What a report says of the run as a whole, where there is something to say. */
export function endMessage({ canceledBy, stuck }: RunFacts, status: RunPhase): string | undefined {
  // Who cancels a run whose steps are over already cancels nothing.
  if (canceledBy !== undefined && status !== 'succeeded') return `canceled by ${canceledBy}`;
  return stuck;
}
