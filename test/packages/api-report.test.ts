import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/api-report.mjs', import.meta.url));

test('api-report.md of each package is its public surface', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, '--check'], { encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
});
