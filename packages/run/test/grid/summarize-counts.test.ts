import { expect, test } from 'vitest';
import { summarizeCounts } from '../../src/grid/summarize-counts.ts';
import { SHOWN_STATUSES } from '../../src/schemas/statuses.ts';

test.each([
  ['', 'w'],
  ['www', 'w'],
  ['wq', 'q'],
  ['ssssssf', 'f'],
  ['rf', 'f'],
  ['ra', 'a'],
  ['pr', 'r'],
  ['sse', 's'],
  ['sk', 's'],
  ['sc', 'c'],
  // Some cells have ended, and the others have not begun: the whole is in progress.
  ['sw', 'r'],
  ['sq', 'r'],
  ['kw', 'r'],
])('summarizeCounts of %j is %s', (letters, expected) => {
  const counts = SHOWN_STATUSES.map(({ letter }) => letters.split(letter).length - 1);
  expect(SHOWN_STATUSES[summarizeCounts(counts)]!.letter).toBe(expected);
});
