import { distance } from 'fastest-levenshtein';

/** A longer name was not meant to be one of ours. */
const MAX_LENGTH = 200;

/** The closest of `names`, where one is near enough to be what was meant. */
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
