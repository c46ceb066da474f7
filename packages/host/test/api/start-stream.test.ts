import { expect, test } from 'vitest';
import { countDownload } from '../../src/api/start-stream.ts';

test('countDownload: rejects more than 128 until one has ended', () => {
  const downloads = { open: 0 };
  const releases = Array.from({ length: 128 }, () => countDownload(downloads));
  expect(() => countDownload(downloads)).toThrow('128 files of this home are being read');
  releases[0]!();
  expect(downloads.open).toBe(127);
  countDownload(downloads);
  expect(() => countDownload(downloads)).toThrow('128 files of this home are being read');
});
