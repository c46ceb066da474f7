import type { RunFacts } from './run-facts.ts';

/** What a report says of the run as a whole, where there is something to say. */
export function endMessage({ canceledBy, stuck }: RunFacts): string | undefined {
  if (canceledBy !== undefined) return `canceled by ${canceledBy}`;
  return stuck;
}
