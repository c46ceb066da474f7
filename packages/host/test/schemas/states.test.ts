import { SHOWN_STATUSES } from '@sluice/run';
import { expect, test } from 'vitest';
import { STREAM_EVENTS } from '../../src/schemas/events.ts';
import { states } from '../../src/schemas/states.ts';

test('every status has a letter of its own', () => {
  expect(new Set(SHOWN_STATUSES.map(({ letter }) => letter)).size).toBe(SHOWN_STATUSES.length);
  expect(states.safeParse(['ssre', '', 'w']).success).toBe(true);
  expect(states.safeParse(['x']).success).toBe(false);
});

test('the data of an event has no keys but those that are described', () => {
  const run = { status: 'running', counts: { waiting: 1 } };
  const changes = { runId: 'r', position: 3, changes: [[3, 1_700_000_000_000, 0, 0, 'succeeded', 1, false]], run };
  expect(STREAM_EVENTS.changes.safeParse(changes).success).toBe(true);
  expect(STREAM_EVENTS.changes.safeParse({ ...changes, secret: '' }).success).toBe(false);
  expect(STREAM_EVENTS.changes.safeParse({ ...changes, changes: [[3, 0, 0, 0, 'cached', 1, true]] }).success).toBe(
    false,
  );
});
