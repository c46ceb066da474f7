import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

const SECRETS = {
  declared: 'planted "one" é\nsecond line of it',
  file: 'planted-two-2222',
  token: 'planted-three-3333',
  password: 'planted-four-4444',
  literal: 'planted-five-5555',
  param: 'planted-six-6666',
  webhook: 'planted-seven-7777',
  variable: 'planted-eight-8888',
  api: 'planted-nine-9999',
  address: 'planted-ten-1010',
};
const WEBHOOK = 'https://hooks.example.org/';
const PIPELINE = `
version: 1
name: leak
params: { password: none }
secrets: [API, OTHER]
env: { SERVICE_TOKEN: ${SECRETS.literal} }
notify: { on: [canceled], webhook: "${WEBHOOK}${SECRETS.webhook}" }
steps:
  leak:
    secrets: [API, OTHER]
    env: { URL: "https://ada:${SECRETS.address}@example.org/" }
    script: echo "$API $OTHER ${SECRETS.literal}"; exit 1
`;
let directory: string;
let env: NodeJS.ProcessEnv;

const call = async (...args: readonly string[]) => {
  const context = createTestContext({ cwd: directory, env });
  const exitCode = await runCommandLine(args, context);
  return { exitCode, ...context.terminal.written() };
};

/** Unpacks an archive; returns its files with their text. */
function unpack(name: string): Record<string, string> {
  const to = mkdtempSync(join(directory, 'unpacked-'));
  expect(spawnSync('tar', ['-xzf', join(directory, name), '-C', to])).toMatchObject({ status: 0 });
  const files = readdirSync(to, { recursive: true, encoding: 'utf8' }).filter((file) =>
    statSync(join(to, file)).isFile(),
  );
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(to, file), 'utf8')]));
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-bundle-'));
  env = {
    PATH: process.env.PATH,
    XDG_CONFIG_HOME: directory,
    XDG_STATE_HOME: directory,
    SLUICE_SECRET_API: SECRETS.declared,
    CLOUD_ACCESS_KEY: SECRETS.variable,
  };
  const home = join(directory, '.sluice');
  mkdirSync(join(home, 'secrets'), { recursive: true });
  chmodSync(home, 0o700);
  writeFileSync(join(home, 'secrets/OTHER'), `${SECRETS.file}\n`);
  writeFileSync(join(directory, 'pipeline.yaml'), PIPELINE);
  expect(await call('run', '-p', `password=${SECRETS.param}`)).toMatchObject({ exitCode: 1 });
  mkdirSync(join(home, 'host'));
  writeFileSync(join(home, 'host/api.json'), JSON.stringify({ url: 'http://127.0.0.1', token: SECRETS.api }));
  const { webhook, address: _, ...others } = SECRETS;
  const line = `${Object.values(others).join(' ')} ${encodeURIComponent(SECRETS.declared)} ${WEBHOOK}${webhook}\n`;
  writeFileSync(join(home, 'host/host.log'), `${line}${'a line of the log\n'.repeat(100_000)}${line}`);
  writeFileSync(join(directory, 'token'), SECRETS.token);
  writeFileSync(join(directory, 'password'), SECRETS.password);
  const address = `https://ada:${SECRETS.address}@example.org/?token=${SECRETS.token}`;
  const profile = `service: ${address}\ntokenFile: token\npasswordFile: password\ncluster: main\n`;
  writeFileSync(join(directory, 'profile.yaml'), profile);
  env = { ...env, SLUICE_PROFILE: join(directory, 'profile.yaml') };
});

afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));

test('a bundle describes the machine and a run, and contains no secret', async () => {
  const { exitCode, out } = await call('doctor', '--bundle', 'bundle.tar.gz');
  expect(exitCode).toBe(0);
  expect(out).toContain('run/journal.ndjson');
  expect(out).toContain('outputs, volumes and logs of steps');
  const files = unpack('bundle.tar.gz');
  const names = ['doctor', 'environment', 'host.log', 'profile', 'run/plan', 'run/report', 'run/summary', 'versions'];
  expect(Object.keys(files).sort()).toEqual(
    [...names.map((name) => (name.includes('.') ? name : `${name}.json`)), 'run/journal.ndjson'].sort(),
  );
  expect(JSON.parse(files['profile.json']!)).toEqual({
    service: 'https://example.org',
    tokenFile: '(set)',
    passwordFile: '(set)',
    cluster: 'main',
  });
  expect(JSON.parse(files['environment.json']!).variables).toContain('SLUICE_SECRET_API');
  expect(files['run/plan.json']).toContain('"name":"leak"');
  expect(files['host.log']!.length).toBeLessThan(1_100_000);
  const leaks = Object.entries(files).flatMap(
    ([name, text]) => text.match(/.{0,40}(?:planted-\w+|second line of it)/g)?.map((leak) => [name, leak]) ?? [],
  );
  expect(leaks).toEqual([]);
});

test('an existing file is kept, and nothing incomplete remains', async () => {
  writeFileSync(join(directory, 'kept.tar.gz'), 'mine');
  expect(await call('doctor', '--bundle', 'kept.tar.gz')).toMatchObject({
    exitCode: 2,
    err: 'could not write the bundle kept.tar.gz: a file of this name exists; name another one, or remove it\n',
  });
  expect(readFileSync(join(directory, 'kept.tar.gz'), 'utf8')).toBe('mine');
  expect((await call('doctor', '--bundle', 'missing/bundle.tar.gz')).err).toContain('ENOENT');
  expect(readdirSync(directory).filter((name) => name.endsWith('.incomplete'))).toEqual([]);
});

test('a run that is named must exist, and is named only for a bundle', async () => {
  expect(await call('doctor', '--bundle', 'none.tar.gz', '-r', 'zzzz')).toMatchObject({ exitCode: 2 });
  expect(existsSync(join(directory, 'none.tar.gz'))).toBe(false);
  expect((await call('doctor', '-r', 'zzzz')).err).toBe(
    'could not select a run: --run needs --bundle; add --bundle FILE\n',
  );
});

test('a link in the home leads nothing into a bundle', async () => {
  const log = join(directory, '.sluice/host/host.log');
  rmSync(log);
  symlinkSync(join(directory, 'password'), log);
  const { out } = await call('doctor', '--bundle', 'links.tar.gz', '--json');
  expect(JSON.parse(out).leftOut).toContainEqual({ name: 'host.log', reason: 'it could not be opened: ELOOP' });
});
