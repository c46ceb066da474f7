import { expect, test } from 'vitest';
import { verdictOf } from '../../src/report/verdict-of.ts';

const EXITED = { result: 'failed', class: 'failed', exitCode: 1, message: 'exit code 1' } as const;
const logTail = ['No space left on device'];

test('verdictOf tells of a full disk that only the log of an attempt knows', () => {
  const message = 'a disk that it wrote to is full (exit code 1)';
  expect(verdictOf({ outcome: EXITED, logTail })).toEqual({ ...EXITED, message });
});

test('verdictOf does not explain the end of a container by its log if there is another reason', () => {
  const outOfMemory = { ...EXITED, class: 'oom', message: 'out of memory (exit code 137)' } as const;
  expect(verdictOf({ outcome: outOfMemory, logTail })).toEqual(outOfMemory);
  const rejected = { result: 'failed', class: 'failed', message: 'no such image' } as const;
  expect(verdictOf({ outcome: rejected, logTail })).toEqual(rejected);
  const late = verdictOf({ outcome: EXITED, cancelReason: 'timeout', logTail });
  expect(late).toMatchObject({ class: 'timeout', message: 'it ran longer than its timeout' });
});
