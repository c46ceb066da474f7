import { type CellMove, type FollowedModel, SHOWN_STATUSES } from '@sluice/run';
import { expect, test } from 'vitest';
import { describeChanges, describeStates } from '../../src/runs/describe-states.ts';
import { openPage } from '../../src/runs/page-query.ts';

const code = (status: string) => SHOWN_STATUSES.findIndex((shown) => shown.status === status && !shown.reused);

/** A run whose moves are at these positions, of cell 0, 1, … of its step. */
function createModel(positions: readonly number[], position = positions.at(-1) ?? 0): FollowedModel {
  const moves = positions.map(
    (at, cell): CellMove => ({ position: at, at: 1000 * at, step: 0, cell, status: code('running'), attempt: 1 }),
  );
  const after = (limit: number) => moves.filter((move) => move.position <= limit).length;
  return {
    position,
    epochAt: () => 1,
    moves: { length: moves.length, at: (index: number) => moves[index]!, after, of: () => [] },
    states: [[code('succeeded'), code('failed')], []],
  } as unknown as FollowedModel;
}

/** All pages, as a client requests them. */
function readPages(model: FollowedModel, pageSize: number, after = 0) {
  const pages: ReturnType<typeof describeChanges>[] = [];
  let token: string | undefined;
  do {
    const page = describeChanges(model, after, openPage('changes', { pageSize, ...(token && { pageToken: token }) }));
    pages.push(page);
    token = page.nextPageToken;
  } while (token !== undefined);
  return pages;
}

test('states are one letter for each cell, and nothing for a step without cells', () => {
  const letters = ['succeeded', 'failed'].map((status) => SHOWN_STATUSES[code(status)]!.letter).join('');
  expect(describeStates(createModel([], 4))).toEqual({ position: 4, states: [letters, ''] });
});

test('the last page has the position of the run', () => {
  const model = createModel([1, 2], 9);
  expect(readPages(model, 10, 2)).toEqual([{ position: 9, changes: [] }]);
  expect(readPages(model, 10, 1)).toEqual([{ position: 9, changes: [[2, 2000, 0, 1, 'running', 1, false]] }]);
});

test('a page that ends within a position has the one before', () => {
  const pages = readPages(createModel([1, 2, 2, 2, 2, 3]), 2);
  expect(pages.map(({ position, changes }) => [position, changes.length])).toEqual([
    [1, 2],
    [1, 2],
    [3, 2],
  ]);
});

test.each([1, 2, 3, 4, 7, 100])('pages of at most %i changes have every change once', (pageSize) => {
  const positions = [1, 2, 2, 2, 2, 2, 3, 3, 5, 8, 8, 8, 9];
  const pages = readPages(createModel(positions), pageSize);
  const changes = pages.flatMap((page) => page.changes);
  expect(changes.map(([position]) => position)).toEqual(positions);
  expect(changes.map((change) => change[3])).toEqual(positions.map((_, cell) => cell));
  for (const page of pages) expect(page.changes.length).toBeLessThanOrEqual(pageSize);
  expect(pages.at(-1)!.position).toBe(9);
});

test('a token from before the journal was replaced is rejected', () => {
  const first = describeChanges(createModel([1, 2, 3]), 0, openPage('changes', { pageSize: 1 }));
  const page = openPage('changes', { pageSize: 1, pageToken: first.nextPageToken! });
  const replaced = { ...createModel([1, 2, 3]), epochAt: () => 2 };
  expect(() => describeChanges(replaced, 0, page)).toThrow('the journal of the run has changed');
});
