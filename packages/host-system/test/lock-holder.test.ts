import { expect, test } from 'vitest';
import { describeSelf, mayBeUnseen } from '../src/lock-holder.ts';

const own = describeSelf({ isNameTheLock: false });
const other = { ...own, host: 'login2', boot: 'another boot' };
const shared = () => ({ type: 'nfs4', locksAreLocal: false });
const local = () => ({ type: 'nfs', locksAreLocal: true });

test.each([
  ['this machine', own, local, false],
  ['another machine that shares its locks', other, shared, false],
  ['another machine on an unknown file system', other, () => undefined, false],
  ['another machine whose locks are its own', other, local, true],
  ['this machine by an abstract name', { ...own, net: 'net:[1]' }, shared, true],
])('mayBeUnseen of a holder on %s', (_where, holder, readMount, expected) => {
  expect(mayBeUnseen(holder, readMount)).toBe(expected);
});
