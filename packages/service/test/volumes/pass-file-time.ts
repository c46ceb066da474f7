import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/** Resolves when a change of a file has a time after the present: the times of files are a few milliseconds behind. */
export async function passFileTime(directory: string): Promise<void> {
  const now = Date.now();
  const probe = join(directory, 'probe');
  await expect
    .poll(() => {
      writeFileSync(probe, '');
      return lstatSync(probe).ctimeMs;
    })
    .toBeGreaterThan(now + 1);
  rmSync(probe);
}
