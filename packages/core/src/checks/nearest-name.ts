import { distance } from 'fastest-levenshtein';

/** The known name that was most likely meant: at most a third of the letters differ, or two of a short name (a swap is two). Ties go to the first. */
function nearestName(name: string, known: Iterable<string>): string | undefined {
  const folded = foldName(name);
  let best: string | undefined;
  let bound = Math.max(name.length < 4 ? 1 : 2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bound) continue;
    const steps = distance(folded, foldName(candidate));
    if (steps < bound) {
      best = candidate;
      bound = steps;
    }
  }
  return best;
}

/** `max_parallel`, `max-parallel` and `maxParallel` are the same word. */
export function foldName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** A name that is not known, with what was meant by it: for the end of a sentence. */
export function describeUnknown(name: string, known: Iterable<string>): string {
  const { hint } = suggestName(name, known);
  return hint === undefined ? name : `${name}; ${hint}`;
}

/** `did you mean ...`, or the list of what there is where that is short. */
export function suggestName(name: string, known: Iterable<string>): { readonly hint?: string } {
  const names = [...known];
  const nearest = nearestName(name, names);
  if (nearest !== undefined) return { hint: `did you mean \`${nearest}\`?` };
  if (names.length === 0 || names.length > 12) return {};
  return { hint: `there ${names.length === 1 ? 'is' : 'are'} ${names.map((known) => `\`${known}\``).join(', ')}` };
}
