import { expect, test } from 'vitest';
import { createLineIndex } from '../../src/runs/line-index.ts';
import type { ReadableLog } from '../../src/runs/open-log.ts';

/** A log in memory that counts the bytes that are read. */
function createLog(text: string) {
  const bytes = Buffer.from(text);
  const read = { bytes: 0 };
  const log: ReadableLog = {
    ...{ key: 'log', name: 'log', size: bytes.length },
    async *read({ start, end }) {
      for (let at = start; at < Math.min(end, bytes.length); at += 65_536) {
        const block = bytes.subarray(at, Math.min(at + 65_536, end, bytes.length));
        read.bytes += block.length;
        yield block;
      }
    },
    follow: () => {
      throw new Error('nothing follows here');
    },
  };
  return { log, read };
}

const LINES = Array.from({ length: 120_000 }, (_, index) => `line ${index + 1} ${'x'.repeat(index % 50)}\n`);
const TEXT = LINES.join('');

test.each([1, 2, 3, 777, 60_000, 119_999, 120_000])('find knows where line %i begins', async (line) => {
  const expected = LINES.slice(0, line - 1).join('').length;
  expect(await createLineIndex().find(createLog(TEXT).log, line)).toBe(expected);
});

test('find returns the size for a line that the log does not have', async () => {
  const index = createLineIndex();
  expect(await index.find(createLog(TEXT).log, 120_001)).toBe(TEXT.length);
  expect(await index.find(createLog(TEXT).log, 500_000)).toBe(TEXT.length);
  expect(await index.find(createLog('').log, 1)).toBe(0);
  expect(await index.find(createLog('').log, 2)).toBe(0);
});

test('find searches no part twice, in any order and at the same time', async () => {
  const index = createLineIndex();
  const { log, read } = createLog(TEXT);
  await Promise.all([index.find(log, 119_000), index.find(log, 100_000)]);
  read.bytes = 0;
  expect(await index.find(log, 119_000)).toBe(LINES.slice(0, 118_999).join('').length);
  expect(await index.find(log, 40_000)).toBe(LINES.slice(0, 39_999).join('').length);
  expect(read.bytes).toBeLessThan(2.2 * 1_048_576);
});

test('find continues with what was added to a log, and begins again with one that was cut', async () => {
  const index = createLineIndex();
  expect(await index.find(createLog(TEXT).log, 120_001)).toBe(TEXT.length);
  expect(await index.find(createLog(`${TEXT}more\nend`).log, 120_002)).toBe(TEXT.length + 5);
  expect(await index.find(createLog('a\nb\n').log, 2)).toBe(2);
});
