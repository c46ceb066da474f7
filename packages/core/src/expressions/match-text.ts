import { RE2JS } from 're2js';

/** Compiled patterns that are kept: an expression uses few, and each of them often. */
const KEPT = 16;
/** Characters of patterns that are kept; others are compiled each time. */
const MAX_KEPT_LENGTH = 1000;

/** The most recently used last. */
const compiled = new Map<string, RE2JS>();

/** Whether a pattern in RE2 syntax matches a part of the text, in time that is linear in the text. Throws for a wrong pattern. */
export function matchText(text: string, pattern: string): boolean {
  const known = compiled.get(pattern) ?? RE2JS.compile(pattern);
  compiled.delete(pattern);
  if (pattern.length <= MAX_KEPT_LENGTH) compiled.set(pattern, known);
  const [oldest] = compiled.keys();
  if (compiled.size > KEPT && oldest !== undefined) compiled.delete(oldest);
  return known.matcher(text).find();
}

/** Turns for each instruction of a program that is compiled, and for each of a table of Unicode. */
const INSTRUCTION = 2;
const TABLE = 1000;
/** Instructions that are followed per turn. */
const PER_TURN = 32;

/** What it costs at most, in turns, to compile a pattern. */
export function costOfPattern(pattern: string): number {
  return INSTRUCTION * sizeOf(pattern) + TABLE * (pattern.match(/\\p/gi)?.length ?? 0);
}

/** What it costs at most, in turns, to match a text of this length. */
export function costOfMatch(length: number, pattern: string): number {
  return (length * sizeOf(pattern)) / PER_TURN;
}

/** An upper bound for the instructions of a pattern. The engine allows no more than 1000 repetitions, also nested ones. */
function sizeOf(pattern: string): number {
  const counts = (pattern.match(/\{\d+,?\d*\}/g) ?? []).map((braces) =>
    Math.max(...(braces.match(/\d+/g) ?? []).map(Number)),
  );
  const repetitions = counts.reduce((product, count) => Math.min(1000, product * Math.max(1, count)), 1);
  return pattern.length * repetitions;
}
