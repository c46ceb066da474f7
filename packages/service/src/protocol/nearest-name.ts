import { distance } from 'fastest-levenshtein';

/** A longer name is certainly not a misspelled one. */
const MAX_LENGTH = 200;

/** The name with the smallest edit distance, ignoring case; undefined if none is similar enough for a suggestion. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.ceil(name.length / 2));
  for (const candidate of names) {
    const d = distance(name.toLowerCase(), candidate.toLowerCase());
    if (d < bestDistance) [best, bestDistance] = [candidate, d];
  }
  return best;
}
