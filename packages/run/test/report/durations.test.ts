import { expect, test } from 'vitest';
import { attemptFacts, createRunFacts } from '../../src/facts/run-facts.ts';
import { measureAttempt, spanMs, spanOfAll, spanOfCell } from '../../src/report/durations.ts';
import { createHandPlan, createStep } from '../plans.ts';

test('a cell lasts from the start of its first attempt to the end of its last', () => {
  const facts = createRunFacts(createHandPlan([createStep('fit')]));
  const place = { step: 0, cell: 0 };
  // Rejected before it could run.
  attemptFacts(facts, { ...place, attempt: 1 }).endedAt = 500;
  Object.assign(attemptFacts(facts, { ...place, attempt: 2 }), {
    submittedAt: 1_000,
    runningAt: 4_000,
    endedAt: 9_000,
  });
  Object.assign(attemptFacts(facts, { ...place, attempt: 3 }), { submittedAt: 12_000, runningAt: 13_000 });
  const known = facts.known[0]![0];
  expect(spanOfCell(known)).toEqual({ beganAt: 4_000 });
  attemptFacts(facts, { ...place, attempt: 3 }).endedAt = 20_000;
  expect(spanMs(spanOfCell(known))).toBe(16_000);
  expect(spanOfCell(undefined)).toEqual({});
});

test('a step lasts from the start of its first cell to the end of its last, and has no end while one runs', () => {
  const ended = [{ beganAt: 5, endedAt: 9 }, { beganAt: 2, endedAt: 4 }, {}];
  expect(spanOfAll(ended)).toEqual({ beganAt: 2, endedAt: 9 });
  expect(spanOfAll([...ended, { beganAt: 7 }])).toEqual({ beganAt: 2 });
  expect(spanOfAll([{}, { endedAt: 3 }])).toEqual({});
});

test('an attempt is queued from its request until it runs', () => {
  expect(measureAttempt({ requestedAt: 1, submittedAt: 3, runningAt: 10, endedAt: 30 })).toEqual({
    queuedMs: 9,
    ranMs: 20,
  });
  // Of an adopted container, the request is unknown; clocks can differ.
  expect(measureAttempt({ submittedAt: 12, runningAt: 10 })).toEqual({ queuedMs: 0 });
  expect(measureAttempt({ requestedAt: 1, endedAt: 30 })).toEqual({});
});
