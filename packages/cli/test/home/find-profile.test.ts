import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findProfile } from '../../src/home/find-profile.ts';

let home: string;
let env: NodeJS.ProcessEnv;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-profile-'));
  env = { XDG_CONFIG_HOME: join(home, 'config'), HOME: home };
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(path: string, text = ''): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function find(given: { profile?: string; variable?: string; home?: string }) {
  const { profile, variable, home: named = home } = given;
  const options = { home: named, ...(profile !== undefined && { profile }) };
  return findProfile(options, { cwd: home, env: { ...env, SLUICE_PROFILE: variable ?? '' } });
}

test('findProfile takes the flag, then the variable, then the home, then the user', () => {
  expect(find({})).toEqual({ ok: true, value: undefined });
  const user = write('config/sluice/profiles/default.yaml');
  expect(find({})).toEqual({ ok: true, value: { path: user, isFound: false, selectedBy: 'default' } });
  const project = write('profile.yaml');
  expect(find({})).toEqual({ ok: true, value: { path: project, isFound: false, selectedBy: 'home' } });
  const gpu = write('config/sluice/profiles/gpu.yaml');
  expect(find({ variable: 'gpu' })).toEqual({ ok: true, value: { path: gpu, isFound: false, selectedBy: 'variable' } });
  const flagged = write('config/sluice/profiles/flagged.yaml');
  expect(find({ variable: 'gpu', profile: 'flagged' })).toEqual({
    ok: true,
    value: { path: flagged, isFound: false, selectedBy: 'flag' },
  });
});

test('findProfile marks the profile of a home that was not named as found', () => {
  const path = write('.sluice/profile.yaml');
  expect(findProfile({}, { cwd: home, env })).toEqual({ ok: true, value: { path, isFound: true, selectedBy: 'home' } });
  const named = { ...env, SLUICE_HOME: join(home, '.sluice') };
  expect(findProfile({}, { cwd: '/', env: named })).toEqual({
    ok: true,
    value: { path, isFound: false, selectedBy: 'home' },
  });
});

test.each([['./gpu'], ['gpu.yaml'], ['sub/gpu.yaml']])(
  'findProfile takes %s as a file of the working directory',
  (word) => {
    write('config/sluice/profiles/gpu.yaml');
    expect(find({ profile: word })).toEqual({
      ok: true,
      value: { path: join(home, word), isFound: false, selectedBy: 'flag' },
    });
  },
);

test('findProfile rejects an unknown name, suggests a similar one, and says how to create it', () => {
  write('config/sluice/profiles/physics.yaml');
  expect(find({ variable: 'phisics' })).toEqual({
    ok: false,
    error: {
      exitCode: 2,
      message: expect.stringMatching(
        /^could not find profile .*phisics.*physics.*; to create it, log in to its service with --profile phisics$/s,
      ),
    },
  });
});
