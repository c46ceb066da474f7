import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendStaged, createStaged, removeOldStaged, stagedDirectory } from '../../src/hosted/staged-files.ts';

const DAY_MS = 86_400_000;
const RUN_ID = 'aaaaaaaaaaaaa';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-staged-'));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Removes what is old at this time; returns whether the files are still there. */
async function isKept(at: number): Promise<boolean> {
  const kept = await removeOldStaged({ home, now: () => at }, (_, action) => action());
  expect(kept).toBe(existsSync(stagedDirectory(home, RUN_ID)) ? 1 : 0);
  return kept === 1;
}

test.each([
  [
    'files',
    async (now: () => number) => {
      const part = { offset: 0, bytes: Buffer.from('x') };
      await appendStaged({ home, runId: RUN_ID, name: 'plan.json', now }, part);
    },
  ],
  ['an empty directory', (now: () => number) => createStaged({ home, runId: RUN_ID, now })],
])('removeOldStaged: removes %s a day later by the time of removals, whatever the clock says', async (_, receive) => {
  const believed = Date.now() - 365 * DAY_MS;
  await receive(() => believed);
  expect(await isKept(believed + DAY_MS / 2)).toBe(true);
  expect(await isKept(believed + 2 * DAY_MS)).toBe(false);
});
