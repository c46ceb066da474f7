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

test.each([1, 2, 777, 60_000, 119_999, 120_000])(
  'lineAt knows the number of line %i at any of its bytes',
  async (line) => {
    const start = LINES.slice(0, line - 1).join('').length;
    const index = createLineIndex();
    const { log } = createLog(TEXT);
    expect(await index.lineAt(log, start)).toBe(line);
    expect(await index.lineAt(log, start + LINES[line - 1]!.length - 1)).toBe(line);
  },
);

test('lineAt counts on in a log that has grown, and again in one that was cut', async () => {
  const index = createLineIndex();
  expect(await index.lineAt(createLog(TEXT).log, TEXT.length + 5)).toBe(120_001);
  expect(await index.lineAt(createLog(`${TEXT}more\nend`).log, TEXT.length + 5)).toBe(120_002);
  expect(await index.lineAt(createLog('a\nb').log, 2)).toBe(2);
  expect(await index.lineAt(createLog('').log, 0)).toBe(1);
});

test('lineAt knows lines that end and begin between two parts', async () => {
  const text = `${'x'.repeat(1_048_575)}\n${'y'.repeat(1_048_575)}\n`;
  const index = createLineIndex();
  const lines = [1_048_575, 1_048_576, 2_097_151, 2_097_152].map((at) => index.lineAt(createLog(text).log, at));
  expect(await Promise.all(lines)).toEqual([1, 2, 2, 3]);
});

test('readers at the same time count each part once', async () => {
  const index = createLineIndex();
  const { log, read } = createLog(TEXT);
  const last = TEXT.length - 1;
  await Promise.all([index.lineAt(log, last), index.lineAt(log, last), index.lineAt(log, last)]);
  // Each reads the last part up to its byte.
  expect(read.bytes).toBe(3 * (last % 1_048_576) + (last - (last % 1_048_576)));
});

test('a part that could not be read is counted by the next reader', async () => {
  const index = createLineIndex();
  const { log } = createLog(TEXT);
  const failing: ReadableLog = {
    ...log,
    read: () => {
      throw new Error('the disk is gone');
    },
  };
  await expect(index.lineAt(failing, TEXT.length)).rejects.toThrow('the disk is gone');
  expect(await index.lineAt(log, TEXT.length)).toBe(120_001);
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
