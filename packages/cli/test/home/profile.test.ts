import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectionOf, readProfile } from '../../src/home/profile.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-profile-'));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

test('readProfile takes files relative to the profile', () => {
  writeFileSync(join(home, 'profile.yaml'), 'service: https://one.example\naccount: a\ntokenFile: ./token\n');
  expect(readProfile(join(home, 'profile.yaml'))).toEqual({
    ok: true,
    value: { service: 'https://one.example', account: 'a', tokenFile: join(home, 'token') },
  });
});

test('readProfile reads how long a container may be absent', () => {
  writeFileSync(join(home, 'profile.yaml'), 'limits: { lostAfter: 15m, mounts: 3 }\n');
  expect(readProfile(join(home, 'profile.yaml'))).toEqual({
    ok: true,
    value: { limits: { mounts: 3, lostAfterMs: 900_000 } },
  });
});

test.each([
  ['an unknown key', 'services: https://one.example\n', 'services'],
  ['a credential in the profile itself', 'token: abc\n', 'token'],
  ['what is no URL', 'service: one\n', 'service'],
  ['broken YAML', 'service: [\n', 'profile.yaml'],
])('readProfile rejects %s', (_what, text, named) => {
  writeFileSync(join(home, 'profile.yaml'), text);
  const result = readProfile(join(home, 'profile.yaml'));
  expect(result).toMatchObject({ ok: false, error: { exitCode: 2, message: expect.stringContaining(named) } });
});

test.each([
  ['limits: { mounts: many }\n', '`limits.mounts` must be a number'],
  ['limits: { mounts: 0 }\n', '`limits.mounts` must be at least 1'],
  [
    'limits: { lostAfter: 10 }\n',
    '`limits.lostAfter` must be a duration with its unit, for example 500ms, 90s, 12h or 7d',
  ],
  [
    'limits: { lostAfter: ten }\n',
    '`limits.lostAfter` must be a duration with its unit, for example 500ms, 90s, 12h or 7d',
  ],
  ['account: 5\n', '`account` must be a text'],
  ['service: one\n', '`service` must be an address'],
])('readProfile says which setting is wrong, in plain words: %s', (text, said) => {
  writeFileSync(join(home, 'profile.yaml'), text);
  const result = readProfile(join(home, 'profile.yaml'));
  const message = result.ok ? '' : result.error.message;
  expect(message).toContain(`could not use the profile ${join(home, 'profile.yaml')}: ${said}`);
  expect(message).not.toMatch(/Invalid input|received|Too small/);
});

test('readProfile rejects a named profile that is not there', () => {
  expect(readProfile(join(home, 'other.yaml'))).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining(join(home, 'other.yaml')) },
  });
});

test('readProfile takes an engine with its options, which must be confirmed', () => {
  const text = 'engine: slurm\noptions: { partition: gpu, exclusive: true }\nlimits: { mounts: 3 }\n';
  writeFileSync(join(home, 'profile.yaml'), text);
  const read = readProfile(join(home, 'profile.yaml'));
  if (!read.ok) throw new Error(read.error.message);
  expect(read.value).toMatchObject({ engine: 'slurm', options: { partition: 'gpu', exclusive: true } });
  expect(connectionOf(read.value)).toEqual({ engine: 'slurm', options: '{"partition":"gpu","exclusive":true}' });
});

test.each([
  ['engine: slurm\nservice: https://one.example\n', 'remove `engine`, or `service`'],
  ['engine: slurm\naccount: a\ntokenFile: ./t\n', 'remove `engine`, or `account`, `tokenFile`'],
  ['engine: pbs\n', '`engine` must be local or slurm'],
  ['options: { partition: gpu }\n', '`options` needs `engine: slurm` or `engine: slurm-job`'],
  ['engine: local\noptions: {}\n', '`options` needs `engine: slurm`'],
])('readProfile rejects %j', (text, message) => {
  writeFileSync(join(home, 'profile.yaml'), text);
  expect(readProfile(join(home, 'profile.yaml'))).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining(message) },
  });
});
