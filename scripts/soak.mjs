// `pnpm soak`: the long form of every test that tries random seeds, kills a process at many moments, or looks for planted
// bugs; `npm test` and CI try a few of each. Arguments select among them, as those of `vitest run`: `pnpm soak simulation`.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './workspace.mjs';

/** In the source of each such test file, by itself or through the contract of the engines. */
const HAS_LONG_FORM = /SLUICE_SOAK|describe-engine/;

const selection = process.argv.slice(2);
const files = [...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/test`), 'test']
  .filter((directory) => existsSync(join(ROOT, directory)))
  .flatMap((directory) => listTests(directory))
  .filter((file) => HAS_LONG_FORM.test(readFileSync(join(ROOT, file), 'utf8')))
  .filter((file) => selection.length === 0 || selection.some((part) => file.includes(part)));
if (files.length === 0) {
  console.error(`could not find a test with a long form whose path contains ${selection.join(' or ')}`);
  process.exit(1);
}
const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
const options = { cwd: ROOT, env: { ...process.env, SLUICE_SOAK: 'true' }, stdio: 'inherit' };
process.exitCode = spawnSync(process.execPath, [vitest, 'run', ...files], options).status ?? 1;

function listTests(directory) {
  const names = readdirSync(join(ROOT, directory), { recursive: true });
  return names
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => join(directory, name))
    .sort();
}
