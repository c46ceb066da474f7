import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isHarmlessOrMadeHere, markMadeHere } from '../../src/home/made-here.ts';

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
  expect(isHarmlessOrMadeHere(home)).toBe(true);
  mkdirSync(join(home, 'service'));
  expect(isHarmlessOrMadeHere(home)).toBe(false);
});

test('a mark is good for the directory that it was made for, wherever that is moved, and for no copy', async () => {
  await markMadeHere(home);
  mkdirSync(join(home, 'runs'));
  expect(isHarmlessOrMadeHere(home)).toBe(true);
  const [moved, copy] = [join(root, 'moved'), join(root, 'copy')];
  renameSync(home, moved);
  cpSync(moved, copy, { recursive: true });
  expect(isHarmlessOrMadeHere(moved)).toBe(true);
  expect(isHarmlessOrMadeHere(copy)).toBe(false);
});

test('markMadeHere marks no home that has runs already, and marks again what a crash has left half written', async () => {
  await markMadeHere(home);
  truncateSync(join(home, 'made-here'), 3);
  await markMadeHere(home);
  mkdirSync(join(home, 'runs'));
  expect(isHarmlessOrMadeHere(home)).toBe(true);
  rmSync(join(home, 'made-here'));
  await markMadeHere(home);
  expect(isHarmlessOrMadeHere(home)).toBe(false);
});
