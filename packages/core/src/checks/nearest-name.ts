import { distance } from 'fastest-levenshtein';

/**
 * The most similar known name: at most a third of the letters differ, or two in a short name (a swap counts as two).
 * The first wins a tie.
 */
function nearestName(name: string, known: Iterable<string>): string | undefined {
  const folded = foldName(name);
  let best: string | undefined;
  let bound = Math.max(name.length < 4 ? 1 : 2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bound) continue;
    const steps = distance(folded, foldName(candidate));
    // A name without a common letter is no misspelling.
    if (steps < bound && steps < Math.max(name.length, candidate.length)) {
      best = candidate;
      bound = steps;
    }
  }
  return best;
}

/** Normalizes a name: `fail_fast`, `fail-fast` and `failFast` are equal. */
export function foldName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** An unknown name in backticks with the nearest known one, for the end of a sentence. */
export function describeUnknown(name: string, known: Iterable<string>): string {
  const { hint } = suggestName(name, known);
  return hint === undefined ? name : `${name}; ${hint}`;
}

/**
 * The number of questions for which a large collection is searched, and the number of comparisons after them: ten
 * thousand wrong names among ten thousand would take a minute, and no user reads that many hints.
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

/** A hint `did you mean …`, or the list of known names if it is short; empty after thousands of calls. */
export function suggestName(name: string, known: Iterable<string>): { readonly hint?: string } {
  if (known instanceof Set && !maySearch(known)) return {};
  const names = [...known];
  const nearest = nearestName(name, names);
  if (nearest !== undefined) return { hint: `did you mean \`${nearest}\`?` };
  if (names.length === 0 || names.length > 12) return {};
  return { hint: `there ${names.length === 1 ? 'is' : 'are'} ${names.map((known) => `\`${known}\``).join(', ')}` };
}
