import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findHome } from '../../src/home/home.ts';
import { makeHome } from '../../src/home/make-home.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-home-'));
  mkdirSync(join(root, 'project/deep/deeper'), { recursive: true });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test('findHome takes the flag before the variable and both before what it finds', () => {
  mkdirSync(join(root, '.sluice'));
  expect(findHome({ env: { SLUICE_HOME: '/b' }, cwd: root }, { home: 'a' })).toBe(join(root, 'a'));
  expect(findHome({ env: { SLUICE_HOME: '/b' }, cwd: root })).toBe('/b');
  expect(findHome({ env: { SLUICE_HOME: '' }, cwd: root }, { home: '' })).toBe(join(root, '.sluice'));
});

test('findHome looks upward for the nearest .sluice, and else names one in the working directory', () => {
  const deep = join(root, 'project/deep/deeper');
  expect(findHome({ env: {}, cwd: deep })).toBe(join(deep, '.sluice'));
  mkdirSync(join(root, '.sluice'));
  expect(findHome({ env: {}, cwd: deep })).toBe(join(root, '.sluice'));
  mkdirSync(join(root, 'project/.sluice'));
  expect(findHome({ env: {}, cwd: deep })).toBe(join(root, 'project/.sluice'));
});

test('makeHome makes a directory for its owner alone that version control ignores, and leaves another as it is', async () => {
  const home = join(root, 'project/.sluice');
  await makeHome(home);
  expect(statSync(home).mode & 0o777).toBe(0o700);
  expect(readFileSync(join(home, '.gitignore'), 'utf8')).toBe('*\n');
  await makeHome(join(root, 'project'));
  expect(existsSync(join(root, 'project/.gitignore'))).toBe(false);
});

test('makeHome says of a file in its place that it is there', async () => {
  writeFileSync(join(root, 'file'), '');
  await expect(makeHome(join(root, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
});

// Root may write where nobody else may.
test.skipIf(process.getuid?.() === 0)('makeHome rejects a home that cannot be written to', async () => {
  mkdirSync(join(root, 'locked'), { mode: 0o500 });
  await expect(makeHome(join(root, 'locked'))).rejects.toMatchObject({ code: 'EACCES' });
});
