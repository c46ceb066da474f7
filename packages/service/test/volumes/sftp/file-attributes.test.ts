import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { encodeName } from '../../../src/volumes/sftp/file-attributes.ts';

test('encodeName shows a file whose time is no date, as a container may set it', () => {
  const stats = statSync('/');
  stats.mtimeMs = 99_999_999_999_999_000;
  stats.mtime = new Date(stats.mtimeMs);
  expect(Buffer.from(encodeName('odd', stats).raw).toString('latin1')).toContain(' - odd');
});
