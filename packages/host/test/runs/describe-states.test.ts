import { type CellMove, type FollowedModel, SHOWN_STATUSES } from '@sluice/run';
import { expect, test } from 'vitest';
import { describeMoves, describeStates } from '../../src/runs/describe-states.ts';

const code = (status: string) => SHOWN_STATUSES.findIndex((shown) => shown.status === status && !shown.reused);

/** A run whose moves are at these positions, of cell 0, 1, … of its step. */
function createModel(positions: readonly number[], position = positions.at(-1) ?? 0): FollowedModel {
  const moves = positions.map(
    (at, cell): CellMove => ({ position: at, at: 1000 * at, step: 0, cell, status: code('running'), attempt: 1 }),
  );
  const after = (limit: number) => moves.filter((move) => move.position <= limit).length;
  return {
    position,
    moves: { length: moves.length, at: (index: number) => moves[index]!, after, of: () => [] },
    states: [[code('succeeded'), code('failed')], []],
  } as unknown as FollowedModel;
}

/** All pages, as a client requests them. */
function readPages(model: FollowedModel, limit: number) {
  const pages: ReturnType<typeof describeMoves>[] = [];
  for (let next: { after: number; skip?: number } = { after: 0 }; ; ) {
    const page = describeMoves(model, { ...next, limit });
    pages.push(page);
    if (!page.more) return pages;
    next = { after: page.position, ...(page.skip !== undefined && { skip: page.skip }) };
  }
}

test('states are one letter for each cell, and nothing for a step without cells', () => {
  const letters = ['succeeded', 'failed'].map((status) => SHOWN_STATUSES[code(status)]!.letter).join('');
  expect(describeStates(createModel([], 4))).toEqual({ position: 4, states: [letters, ''] });
});

test('a page has the position of the run if no moves are left', () => {
  expect(describeMoves(createModel([1, 2], 9), { after: 2, limit: 10 })).toEqual({
    position: 9,
    moves: [],
    more: false,
  });
  expect(describeMoves(createModel([1, 2], 9), { after: 1, limit: 10 })).toMatchObject({
    ...{ position: 9, more: false },
    moves: [[2, 2000, 0, 1, 'running', 1, false]],
  });
});

test('a page ends between two positions if one of them fits', () => {
  const page = describeMoves(createModel([1, 1, 2, 2, 3]), { after: 0, limit: 3 });
  expect(page).toMatchObject({ position: 1, more: true });
  expect(page.moves).toHaveLength(2);
  expect(page).not.toHaveProperty('skip');
});

test('a position with more moves than a page has is continued by `skip`', () => {
  expect(describeMoves(createModel([1, 2, 2, 2, 2, 3]), { after: 1, limit: 2 })).toMatchObject({
    ...{ position: 1, skip: 2, more: true },
  });
});

test.each([1, 2, 3, 4, 7, 100])('pages of at most %i moves have every move once', (limit) => {
  const positions = [1, 2, 2, 2, 2, 2, 3, 3, 5, 8, 8, 8, 9];
  const pages = readPages(createModel(positions), limit);
  const moves = pages.flatMap((page) => page.moves);
  expect(moves.map(([position]) => position)).toEqual(positions);
  expect(moves.map((move) => move[3])).toEqual(positions.map((_, cell) => cell));
  for (const page of pages) expect(page.moves.length).toBeLessThanOrEqual(limit);
  expect(pages.at(-1)!.position).toBe(9);
});
