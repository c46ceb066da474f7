import { expect, test } from 'vitest';
import { createAbsenceLimit } from '../../src/session/absence-limit.ts';

test('createAbsenceLimit allows three times the longest absence so far, and 5 minutes at least', () => {
  const limit = createAbsenceLimit();
  expect(limit.ms).toBe(300_000);
  limit.note(60_000);
  expect(limit.ms).toBe(300_000);
  limit.note(240_000);
  limit.note(1000);
  expect(limit.ms).toBe(720_000);
});

test('createAbsenceLimit begins with what the site says', () => {
  const limit = createAbsenceLimit(10_000);
  expect(limit.ms).toBe(10_000);
  limit.note(5000);
  expect(limit.ms).toBe(15_000);
});
