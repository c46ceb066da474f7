import { expect, test } from 'vitest';
import {
  CUSTODY_STATES,
  type CustodyMove,
  type CustodyState,
  LEGAL_MOVES,
  nextState,
} from '../../src/journal/legal-moves.ts';

/** Every cell of the table: by move, the next states of free, host, ordering, server, collecting and collectingCopy. */
const TABLE: Readonly<Record<CustodyMove, readonly (CustodyState | undefined)[]>> = {
  detach: ['host', 'host', undefined, undefined, undefined, undefined],
  take: ['free', 'free', undefined, undefined, undefined, undefined],
  end: ['free', 'free', undefined, undefined, undefined, undefined],
  order: ['ordering', undefined, 'ordering', 'server', undefined, undefined],
  accept: [undefined, undefined, 'server', 'server', undefined, undefined],
  reject: [undefined, undefined, 'free', undefined, undefined, undefined],
  copy: ['server', undefined, 'server', 'server', undefined, undefined],
  collect: ['collecting', undefined, undefined, 'collectingCopy', 'collecting', 'collectingCopy'],
  keep: ['free', undefined, undefined, 'server', 'free', 'server'],
};

const CELLS = Object.entries(TABLE).flatMap(([move, states]) =>
  states.map((next, at) => [move as CustodyMove, CUSTODY_STATES[at]!, next] as const),
);

test.each(CELLS)('%s of a run that is %s: %s', (move, state, next) => {
  expect(nextState(move, state)).toBe(next);
});

test('the table has every move', () => {
  expect(Object.keys(TABLE).sort()).toEqual(Object.keys(LEGAL_MOVES).sort());
});

/** The states in which a process of this home may execute a run. */
const HERE: readonly CustodyState[] = ['free', 'host'];

test('a run that a server executes, or perhaps executes, is never executed here again', () => {
  for (const [move, state, next] of CELLS) {
    // A rejected order is no run.
    if (move === 'reject' || next === undefined || HERE.includes(state)) continue;
    if (state === 'collecting') continue;
    expect([move, state, HERE.includes(next)]).toEqual([move, state, false]);
  }
});
