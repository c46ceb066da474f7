import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSecretReader } from '../../src/home/create-secret-reader.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-secrets-'));
  mkdirSync(join(home, 'secrets'));
  writeFileSync(join(home, 'secrets/API_KEY'), 'from file\n');
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

test('createSecretReader takes the variable before the file, and knows what neither has', () => {
  expect(createSecretReader(home, { SLUICE_SECRET_API_KEY: 'from variable' })('API_KEY')).toBe('from variable');
  expect(createSecretReader(home, {})('API_KEY')).toBe('from file');
  expect(createSecretReader(home, {})('other')).toBeUndefined();
});

test('createSecretReader does not read outside its directory', () => {
  writeFileSync(join(home, 'private'), 'x');
  expect(createSecretReader(home, {})('../private')).toBeUndefined();
});
