import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeVolumeFiles } from '@sluice/client/contract';
import { createDirectFiles } from '../../../src/volumes/files/direct-files.ts';

describeVolumeFiles('createDirectFiles', async () => {
  const root = mkdtempSync(join(tmpdir(), 'sluice-contract-'));
  return { files: createDirectFiles(root), close: async () => rmSync(root, { recursive: true }) };
});
