import { expect, test } from 'vitest';
import { adviseFirstLogin, adviseLogin } from '../../src/connect/advise-login.ts';

const URL = 'https://gpu.example.org:8443';
const PROFILES = '/home/ada/.config/sluice/profiles';

function source(profilePath?: string, env: NodeJS.ProcessEnv = {}, isOther = false) {
  return { env: { HOME: '/home/ada', ...env }, profilePath, isOther };
}

test('adviseLogin suggests a login that replaces the credentials in use', () => {
  expect(adviseLogin(URL, source())).toBe(`log in again with: sluice login ${URL}`);
  expect(adviseLogin(URL, source(`${PROFILES}/default.yaml`))).toBe(`log in again with: sluice login ${URL}`);
  expect(adviseLogin(URL, source(`${PROFILES}/lab.yaml`))).toBe(`log in again with: sluice login ${URL} --profile lab`);
});

test('adviseLogin names what takes precedence over a login', () => {
  expect(adviseLogin(URL, source('/project/.sluice/profile.yaml'))).toBe(
    'update the credentials that /project/.sluice/profile.yaml names',
  );
  expect(adviseLogin(URL, source(undefined, { SLUICE_TOKEN: 'x' }))).toBe(
    `SLUICE_TOKEN is wrong or expired; set another one, or unset it and log in again with: sluice login ${URL}`,
  );
  expect(adviseLogin(URL, source(undefined, { SLUICE_EMAIL: 'a@b.c', SLUICE_PASSWORD: 'x' }))).toContain(
    'SLUICE_EMAIL or SLUICE_PASSWORD is wrong',
  );
});

test('adviseFirstLogin suggests another name if the profile is for another service', () => {
  expect(adviseFirstLogin(URL, source(`${PROFILES}/default.yaml`, {}, true))).toBe(
    `log in with: sluice login ${URL} --profile gpu-example-org, or set SLUICE_TOKEN`,
  );
  expect(adviseFirstLogin('http://[::1]:80', source(`${PROFILES}/default.yaml`, {}, true))).toContain('--profile 1,');
  expect(adviseFirstLogin(URL, source('/project/.sluice/profile.yaml'))).toBe(
    'add tokenFile to /project/.sluice/profile.yaml, or set SLUICE_TOKEN',
  );
});
