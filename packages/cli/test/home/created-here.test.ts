import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOME_MARK, isHomeMark } from '@sluice/host-system';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isEmptyOrCreatedHere, markCreatedHere } from '../../src/home/created-here.ts';

let root: string;
let home: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-made-here-'));
  home = join(root, '.sluice');
  mkdirSync(home);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a home without runs and service is harmless, whatever files and secrets people put there', () => {
  writeFileSync(join(home, 'profile.yaml'), '');
  mkdirSync(join(home, 'secrets'));
  expect(isEmptyOrCreatedHere(home)).toBe(true);
  mkdirSync(join(home, 'service'));
  expect(isEmptyOrCreatedHere(home)).toBe(false);
});

test('a mark is good for the directory that it was made for, wherever that is moved, and for no copy', async () => {
  await markCreatedHere(home);
  expect(isHomeMark(readFileSync(join(home, HOME_MARK), 'utf8'))).toBe(true);
  mkdirSync(join(home, 'runs'));
  expect(isEmptyOrCreatedHere(home)).toBe(true);
  const [moved, copy] = [join(root, 'moved'), join(root, 'copy')];
  renameSync(home, moved);
  cpSync(moved, copy, { recursive: true });
  expect(isEmptyOrCreatedHere(moved)).toBe(true);
  expect(isEmptyOrCreatedHere(copy)).toBe(false);
});

test('markCreatedHere marks no home that has runs already, and marks again what a crash has left half written', async () => {
  await markCreatedHere(home);
  truncateSync(join(home, 'made-here'), 3);
  await markCreatedHere(home);
  mkdirSync(join(home, 'runs'));
  expect(isEmptyOrCreatedHere(home)).toBe(true);
  rmSync(join(home, 'made-here'));
  await markCreatedHere(home);
  expect(isEmptyOrCreatedHere(home)).toBe(false);
});
