import { describe, expect, test } from 'vitest';
import { findReadOnlyHint } from '../../src/report/find-read-only-hint.ts';

const from = { step: 'make', output: 'data' };
const step = {
  inputs: {
    reads: { from, path: '/in/reads' },
    index: { from, path: '/in/index' },
    own: { from, path: '/own', writable: true as const },
  },
};
const HINT = 'input reads (/in/reads) is read-only: set `writable: true` on it for a private copy';

describe('findReadOnlyHint', () => {
  test.each([
    "touch: cannot touch '/in/reads/x.bai': Read-only file system",
    "sed: couldn't open temporary file /in/reads/sedA1b2: Read-only file system",
    'gzip: /in/reads/a.gz: Read-only file system',
    "Error: EROFS: read-only file system, open '/in/reads/x'",
    "OSError: [Errno 30] Read-only file system: '/in/reads/__pycache__'",
    '[E::hts_open] fail to open "/in/reads": Read-only file system',
  ])('names the input of %s', (line) => {
    expect(findReadOnlyHint(step, ['begin', line, 'end'])).toBe(HINT);
  });

  test('names all read-only inputs where the program tells no path', () => {
    expect(findReadOnlyHint(step, ['write failed: Read-only file system (os error 30)'])).toBe(
      'the inputs reads, index are read-only: set `writable: true` on the one that the step writes to for a private copy',
    );
  });

  test('says nothing of other places, other failures, and steps without read-only inputs', () => {
    expect(findReadOnlyHint(step, ["touch: cannot touch '/usr/x': Read-only file system"])).toBeUndefined();
    expect(findReadOnlyHint(step, ["touch: cannot touch '/in/readsx': Read-only file system"])).toBeUndefined();
    expect(findReadOnlyHint(step, ['/in/reads/x: No such file or directory'])).toBeUndefined();
    expect(findReadOnlyHint({ inputs: { own: step.inputs.own } }, ['Read-only file system'])).toBeUndefined();
  });
});
