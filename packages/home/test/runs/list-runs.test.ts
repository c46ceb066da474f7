import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createSystemDisk } from '../../src/journal/system-disk.ts';
import { readRunSummary } from '../../src/runs/list-runs.ts';
import { runDirectory } from '../../src/runs/run-home.ts';
import { type StoredSummary, writeSummary } from '../../src/runs/run-summary.ts';

const home = mkdtempSync(join(tmpdir(), 'sluice-list-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const RUN_ID = '2la5ksswr7qzz';
const STARTED: StoredSummary = { pipeline: 'p', createdAt: 1 };

test('a run that ends while it is listed is not called suspended', async () => {
  const disk = createSystemDisk();
  const directory = runDirectory(home, RUN_ID);
  await disk.create(join(directory, 'plan.json'), Buffer.from('{}'));
  await writeSummary(disk, directory, STARTED);
  expect(await readRunSummary(home, RUN_ID, disk)).toMatchObject({ status: 'suspended' });
  const ending = {
    ...disk,
    ask: async () => {
      await writeSummary(disk, directory, { ...STARTED, status: 'canceled', endedAt: 2 });
      return undefined;
    },
  };
  expect(await readRunSummary(home, RUN_ID, ending)).toEqual({
    runId: RUN_ID,
    pipeline: 'p',
    status: 'canceled',
    createdAt: 1,
    endedAt: 2,
  });
});
