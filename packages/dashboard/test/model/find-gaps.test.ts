import { expect, test } from 'vitest';
import { findGaps } from '../../src/model/find-gaps.ts';

test('a gap begins with the last record before a resume, after the start, and short ones are left out', () => {
  const at = (second: number) => new Date(second * 1_000).toISOString();
  const resumes = [
    { lastRecordAt: at(5), at: at(20) },
    { lastRecordAt: at(30), at: at(30.9) },
    { lastRecordAt: at(40), at: at(41) },
    { lastRecordAt: at(1), at: at(8) },
  ];
  expect(findGaps(resumes, 10_000)).toEqual([
    { from: 10_000, to: 20_000 },
    { from: 40_000, to: 41_000 },
  ]);
});
