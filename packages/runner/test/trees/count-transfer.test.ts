import { expect, test } from 'vitest';
import { countTransfer, type TransferProgress } from '../../src/trees/count-transfer.ts';

test('countTransfer tells begin and end, and a hundred times at most between them', () => {
  const told: TransferProgress[] = [];
  const count = countTransfer({ totalFiles: 1, totalBytes: 100_000 }, (progress) => told.push(progress));
  for (let i = 0; i < 10_000; i++) count.addBytes(10);
  count.addFile();
  count.end();
  expect(told).toHaveLength(102);
  expect(told[50]).toEqual({ files: 0, totalFiles: 1, bytes: 50_000, totalBytes: 100_000, done: false });
  expect(told.at(-1)).toEqual({ files: 1, totalFiles: 1, bytes: 100_000, totalBytes: 100_000, done: true });
});

test('countTransfer tells of files without a byte at the end', () => {
  const told: TransferProgress[] = [];
  const count = countTransfer({ totalFiles: 2, totalBytes: 0 }, (progress) => told.push(progress));
  for (let i = 0; i < 2; i++) {
    count.addBytes(0);
    count.addFile();
  }
  count.end();
  expect(told.map(({ files, done }) => [files, done])).toEqual([
    [0, false],
    [2, true],
  ]);
});
