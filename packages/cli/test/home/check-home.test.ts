import { expect, test } from 'vitest';
import { describeUnsafeOwner } from '../../src/home/check-home.ts';

const directory = (uid: number, mode = 0o700) => ({ uid, mode: 0o040000 | mode });
const entry = (uid: number, isLink = false) => ({ uid, isSymbolicLink: () => isLink });
const ada = { uid: 1000 };

test.each([
  ['a directory of the caller', entry(1000), directory(1000), ada, undefined],
  ['one that others may only read', entry(1000), directory(1000, 0o755), ada, undefined],
  ['one of another user', entry(1001), directory(1001), ada, 'it belongs to user 1001 and you are user 1000'],
  ['one of root', entry(0), directory(0), ada, 'it belongs to root and you are user 1000'],
  [
    'one of another user, for root',
    entry(1000),
    directory(1000),
    { uid: 0 },
    'it belongs to user 1000 and you are root',
  ],
  ['one of the user who called sudo', entry(1000), directory(1000), { uid: 0, sudoUid: 1000 }, undefined],
  [
    'the link of another user',
    entry(1001, true),
    directory(1000),
    ada,
    'it belongs to user 1001 and you are user 1000',
  ],
  ['a link to what is another user’s', entry(1000, true), directory(1001), ada, 'it belongs to user 1001'],
  ['a link', entry(1000, true), directory(1000), ada, 'it is a symbolic link'],
  [
    'one that its group may write to',
    entry(1000),
    directory(1000, 0o770),
    ada,
    'other users can write to it (mode 770)',
  ],
  ['one that all may write to', entry(1000), directory(1000, 0o1777), ada, 'other users can write to it (mode 777)'],
  ['anything where there are no users', entry(1001, true), directory(1001, 0o777), undefined, undefined],
] as const)('describeUnsafeOwner: %s', (_name, from, target, caller, expected) => {
  const fault = describeUnsafeOwner({ entry: from, target }, caller);
  if (expected === undefined) expect(fault).toBeUndefined();
  else expect(fault).toContain(expected);
});
