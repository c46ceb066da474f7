import { CELL_STATUSES } from '@sluice/run';
import { expect, test } from 'vitest';
import { STREAM_EVENTS } from '../../src/schemas/events.ts';
import { STATE_LETTERS, states } from '../../src/schemas/words.ts';

test('every status has a letter, and a reused success one of its own', () => {
  expect(new Set(Object.values(STATE_LETTERS))).toEqual(new Set(CELL_STATUSES));
  expect(Object.values(STATE_LETTERS)).toHaveLength(CELL_STATUSES.length + 1);
  expect(states.safeParse(['ssre', '', 'w']).success).toBe(true);
  expect(states.safeParse(['x']).success).toBe(false);
});

test('the data of an event has no keys but those that are described', () => {
  const run = { status: 'running', counts: { waiting: 1 } };
  const moves = { runId: 'r', position: 3, moves: [[3, 1_700_000_000_000, 0, 0, 'succeeded', 1, false]], run };
  expect(STREAM_EVENTS.moves.safeParse(moves).success).toBe(true);
  expect(STREAM_EVENTS.moves.safeParse({ ...moves, secret: '' }).success).toBe(false);
  expect(STREAM_EVENTS.moves.safeParse({ ...moves, moves: [[3, 0, 0, 0, 'cached', 1, true]] }).success).toBe(false);
});
