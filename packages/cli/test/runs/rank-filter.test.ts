import { expect, test } from 'vitest';
import { filterRank } from '../../src/runs/rank-filter.ts';

const AS_IT_IS = { add: (text: string) => text, end: () => '' };

function filter(rank: number, parts: readonly string[]): string {
  const renderer = filterRank(rank, AS_IT_IS);
  return parts.map((part) => renderer.add(part)).join('') + renderer.end();
}

test.each<[what: string, rank: number, parts: string[], expected: string]>([
  ['the lines of the task, without the rank', 1, ['0: a\n1: b\n10: c\n1: 0: d\n'], 'b\n0: d\n'],
  ['ranks that are filled up with zeros', 1, ['01: a\n10: b\n11: c\n'], 'a\n'],
  ['lines that come in pieces', 0, ['0', ': a', 'b\n1: c\n0:', ' d\n'], 'ab\nd\n'],
  ['a last line without an end', 0, ['0: a\n0: b'], 'a\nb'],
  ['empty lines of the task only', 0, ['0: \n\n1: x\n'], '\n'],
  ['nothing of a task that has written nothing', 7, ['0: a\n'], ''],
])('filterRank passes on %s', (_what, rank, parts, expected) => {
  expect(filter(rank, parts)).toBe(expected);
});
