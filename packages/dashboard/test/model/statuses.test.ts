import { SHOWN_STATUSES } from '@sluice/run';
import { expect, test } from 'vitest';
import {
  AWAITING_APPROVAL,
  BAR_ORDER,
  codeOf,
  codeOfLetter,
  isFinished,
  RUNNING,
  STATUSES,
} from '../../src/model/statuses.ts';

test('every status has a letter, a mark and a place in a bar of its own', () => {
  expect(STATUSES.map(({ status, letter }) => ({ status, letter }))).toEqual(
    SHOWN_STATUSES.map(({ status, letter }) => ({ status, letter })),
  );
  expect(new Set(STATUSES.map(({ label }) => label)).size).toBe(STATUSES.length);
  expect(BAR_ORDER.toSorted((a, b) => a - b)).toEqual(STATUSES.map((_, code) => code));
});

test('a word and a letter are the same code, and a reused success is another one', () => {
  for (const [code, { status, letter }] of STATUSES.entries()) {
    expect(codeOfLetter(letter.charCodeAt(0))).toBe(code);
    expect(codeOf(status, letter === 'e')).toBe(code);
  }
  expect(codeOf('succeeded')).not.toBe(codeOf('succeeded', true));
  expect([codeOf('running'), codeOf('awaitingApproval')]).toEqual([RUNNING, AWAITING_APPROVAL]);
});

test('a word or a letter of no status is an error', () => {
  expect(() => codeOf('done')).toThrow('there is no status done');
  expect(() => codeOfLetter('?'.charCodeAt(0))).toThrow('no status has the letter ?');
});

test('cells that have ended do not change', () => {
  expect(STATUSES.filter((_, code) => isFinished(code)).map(({ letter }) => letter)).toEqual(
    SHOWN_STATUSES.filter(({ hasEnded }) => hasEnded).map(({ letter }) => letter),
  );
  expect([isFinished(RUNNING), isFinished(codeOf('failed')), isFinished(codeOf('skipped'))]).toEqual([
    false,
    true,
    true,
  ]);
});
