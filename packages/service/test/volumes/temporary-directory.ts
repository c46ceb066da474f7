import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory of the test's own, gone after it. */
export function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-volumes-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}

/**
 * An empty directory to mount something at that this very process serves; unmounted after the test, and removed without
 * looking into it: a look while it is mounted would wait for ourselves.
 */
export function temporaryMountPoint(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-mount-')));
  onTestFinished(() => {
    spawnSync('umount', ['-l', directory], { stdio: 'ignore', timeout: 10_000 });
    rmdirSync(directory);
  });
  return directory;
}
