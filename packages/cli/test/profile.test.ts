import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readProfile } from '../src/profile.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-profile-'));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

test('readProfile knows nothing where there is no profile', () => {
  expect(readProfile({ home }, { cwd: '/' })).toEqual({ ok: true, value: {} });
});

test('readProfile takes files relative to the profile', () => {
  writeFileSync(join(home, 'profile.yaml'), 'service: https://one.example\naccount: a\ntokenFile: ./token\n');
  expect(readProfile({ home }, { cwd: '/' })).toEqual({
    ok: true,
    value: { service: 'https://one.example', account: 'a', tokenFile: join(home, 'token') },
  });
});

test.each([
  ['an unknown key', 'services: https://one.example\n', 'services'],
  ['a credential in the profile itself', 'token: abc\n', 'token'],
  ['what is no URL', 'service: one\n', 'service'],
  ['broken YAML', 'service: [\n', 'profile.yaml'],
])('readProfile refuses %s', (_what, text, named) => {
  writeFileSync(join(home, 'profile.yaml'), text);
  const result = readProfile({ home }, { cwd: '/' });
  expect(result).toMatchObject({ ok: false, error: { exitCode: 2, message: expect.stringContaining(named) } });
});

test.each([
  ['limits: { mounts: many }\n', '`limits.mounts` must be a number'],
  ['limits: { mounts: 0 }\n', '`limits.mounts` must be at least 1'],
  ['account: 5\n', '`account` must be a text'],
  ['service: one\n', '`service` must be an address'],
])('readProfile says which setting is wrong, in plain words: %s', (text, said) => {
  writeFileSync(join(home, 'profile.yaml'), text);
  const result = readProfile({ home }, { cwd: '/' });
  const message = result.ok ? '' : result.error.message;
  expect(message).toContain(`Could not use the profile ${join(home, 'profile.yaml')}: ${said}`);
  expect(message).not.toMatch(/Invalid input|received|Too small/);
});

test('readProfile refuses a named profile that is not there', () => {
  expect(readProfile({ home, profile: 'other.yaml' }, { cwd: home })).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining(join(home, 'other.yaml')) },
  });
});
