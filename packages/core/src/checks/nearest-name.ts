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

/**
 * Names of a large collection are compared for so many questions, and beyond that for so many comparisons: ten thousand
 * wrong names among ten thousand would take a minute, and no user reads as many hints.
 */
const SURE_QUESTIONS = 20;
const MOST_COMPARISONS = 50_000;
const LARGE = 100;
const asked = new WeakMap<ReadonlySet<string>, number>();

function maySearch(known: ReadonlySet<string>): boolean {
  if (known.size <= LARGE) return true;
  const before = asked.get(known) ?? 0;
  asked.set(known, before + 1);
  return before < SURE_QUESTIONS || before * known.size < MOST_COMPARISONS;
}

/** `did you mean ...`, or the list of what there is where that is short; nothing after many thousands of questions. */
export function suggestName(name: string, known: Iterable<string>): { readonly hint?: string } {
  if (known instanceof Set && !maySearch(known)) return {};
  const names = [...known];
  const nearest = nearestName(name, names);
  if (nearest !== undefined) return { hint: `did you mean \`${nearest}\`?` };
  if (names.length === 0 || names.length > 12) return {};
  return { hint: `there ${names.length === 1 ? 'is' : 'are'} ${names.map((known) => `\`${known}\``).join(', ')}` };
}
