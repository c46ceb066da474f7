import { expect, test } from 'vitest';
import { addFullDisk, findSpaceHint } from '../../src/report/find-space-hint.ts';

test.each([
  'cat: write error: No space left on device',
  "Error: ENOSPC: no space left on device, write '/out/o/big'",
  'OSError: [Errno 28] No space left on device',
  'cp: error writing: Disk quota exceeded',
])('findSpaceHint advises to free space after: %s', (line) => {
  expect(findSpaceHint('exit code 1', ['begun', line])).toContain('free space there');
});

test('findSpaceHint gives no advice for other failures', () => {
  expect(findSpaceHint('exit code 1', ['no space between words', 'exit'])).toBeUndefined();
});

test('findSpaceHint advises to free space if the service has found its disk full', () => {
  expect(findSpaceHint('the disk of the service is full (exit code 1)', [])).toContain('free space there');
});

test.each([
  ['exit code 1', ['No space left on device'], 'a disk that it wrote to is full (exit code 1)'],
  ['exit code 1', ['begun'], 'exit code 1'],
  [
    'the disk of the service is full (exit code 1)',
    ['No space left on device'],
    'the disk of the service is full (exit code 1)',
  ],
])('addFullDisk to %j with the log %j is %j', (message, tail, expected) => {
  expect(addFullDisk(message, tail)).toBe(expected);
});
