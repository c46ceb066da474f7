import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const scriptPath = (name: string) => fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));

test('api-report.md of each package is its public surface', () => {
  const { status, stdout, stderr } = check('api-report.mjs');
  expect(status, stdout + stderr).toBe(0);
});

test('the types of the client of the run API are those of its OpenAPI document', () => {
  const { status, stdout, stderr } = check('run-api-types.mjs');
  expect(status, stdout + stderr).toBe(0);
});

function check(script: string) {
  return spawnSync(process.execPath, [scriptPath(script), '--check'], { encoding: 'utf8' });
}
