import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { COMMAND, createWorkplace, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: p
steps:
  make: { command: [sh, -c, "echo made > /out/file"], outputs: { made: /out } }
`;

let place: Workplace;
let server: Server;
let profiles: string;

beforeEach(async () => {
  place = createWorkplace();
  profiles = join(place.directory, '.user/config/sluice/profiles');
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  server = await serveNew(place, { accounts: ['main/physics'] });
});

afterEach(async () => {
  await server.kill();
  place.remove();
});

function modeOf(name: string): number {
  return statSync(join(profiles, name)).mode & 0o777;
}

test('sluice login saves a profile with which the suggested commands work, without a password', async () => {
  const { exitCode, stdout, stderr } = await place.start(['login', server.url], { env: CREDENTIALS }).ended;
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toContain('  sluice run\n');
  expect(readdirSync(profiles).sort()).toEqual(['default.token', 'default.yaml']);
  expect([modeOf('default.token'), modeOf('default.yaml')]).toEqual([0o600, 0o600]);
  expect(readFileSync(join(profiles, 'default.yaml'), 'utf8')).toBe(
    `service: ${server.url}\ncluster: main\naccount: physics\nemail: a@example.org\ntokenFile: ./default.token\n`,
  );
  expect(stdout).not.toContain(readFileSync(join(profiles, 'default.token'), 'utf8').trim());
  expect(await place.sluice('plan')).toMatchObject({ exitCode: 0, stderr: '' });
  const ran = await place.sluice('run');
  expect(ran.exitCode, ran.stderr).toBe(0);
});

test('sluice login repeats a login, keeps other settings and comments, and repairs the mode of the token', async () => {
  mkdirSync(profiles, { recursive: true });
  const file = join(profiles, 'gpu.yaml');
  writeFileSync(file, `# ours\nservice: ${server.url}\npasswordFile: ./password\nlimits: { mounts: 3 } # few\n`);
  writeFileSync(join(profiles, 'gpu.token'), 'old');
  chmodSync(join(profiles, 'gpu.token'), 0o644);
  const { exitCode, stdout } = await place.start(['login', server.url, '--profile', 'gpu'], { env: CREDENTIALS }).ended;
  expect(exitCode).toBe(0);
  expect(stdout).toContain('  sluice run --profile gpu\n');
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('# ours\n');
  expect(text).toContain('limits: { mounts: 3 } # few\n');
  expect(text).not.toContain('passwordFile');
  expect(modeOf('gpu.token')).toBe(0o600);
  expect(await place.sluice('plan', '--profile', 'gpu')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await place.start(['plan'], { env: { SLUICE_PROFILE: 'gpu' } }).ended).toMatchObject({ exitCode: 0 });
  expect(await place.sluice('run', '--profile', 'gpu')).toMatchObject({ exitCode: 0 });
  expect(await place.sluice('rerun')).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('reusing'),
  });
  writeFileSync(join(profiles, 'gpu.token'), 'no-token-of-this-service\n');
  for (const command of ['plan', 'run']) {
    const rejected = await place.sluice(command, '--profile', 'gpu');
    expect(rejected.exitCode).toBe(3);
    expect(rejected.stderr).toContain(`; log in again with: sluice login ${server.url} --profile gpu\n`);
  }
});

test('sluice login writes nothing if the service does not accept the login, or the name is taken', async () => {
  const wrong = { ...CREDENTIALS, SLUICE_PASSWORD: 'other' };
  expect(await place.start(['login', server.url], { env: wrong }).ended).toMatchObject({
    exitCode: 3,
    stderr: `could not log in at ${server.url}: the service does not accept the e-mail address or the password\n`,
  });
  expect(readdirSync(place.directory)).not.toContain('.user');
  mkdirSync(profiles, { recursive: true });
  writeFileSync(join(profiles, 'default.yaml'), 'service: https://other.example\n');
  const taken = await place.start(['login', server.url], { env: CREDENTIALS }).ended;
  expect(taken.exitCode).toBe(2);
  expect(taken.stderr).toContain('default.yaml is for https://other.example; choose another name with --profile');
  expect(readFileSync(join(profiles, 'default.yaml'), 'utf8')).toBe('service: https://other.example\n');
  expect(readdirSync(profiles)).toEqual(['default.yaml']);
});

test('sluice login --token-stdin checks and saves a token, and never prints it', async () => {
  expect(await place.start(['login', server.url], { env: CREDENTIALS }).ended).toMatchObject({ exitCode: 0 });
  const token = readFileSync(join(profiles, 'default.token'), 'utf8');
  const args = ['login', server.url, '--profile', 'other', '--token-stdin'];
  expect(await place.start(args, { input: 'no-token-of-this-service\n' }).ended).toMatchObject({ exitCode: 3 });
  const { exitCode, stdout, stderr } = await place.start([...args, '--json'], { input: token }).ended;
  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    schema: 1,
    type: 'login',
    profile: 'other',
    file: join(profiles, 'other.yaml'),
    service: server.url,
    clusterId: 'main',
    accountId: 'physics',
  });
  expect(readFileSync(join(profiles, 'other.token'), 'utf8')).toBe(token);
});

/** Of util-linux: runs a command on a pseudo-terminal. */
const HAS_SCRIPT = spawnSync('script', ['--version']).status === 0;

/** Runs `sluice login URL` on a pseudo-terminal, and types each answer when its question is shown. */
async function typeLogin(
  url: string,
  answers: readonly (readonly [question: string, answer: string])[],
): Promise<{ readonly exitCode: number | null; readonly shown: string }> {
  const { CI, GITHUB_ACTIONS, FORCE_COLOR, SLUICE_EMAIL, SLUICE_PASSWORD, ...env } = process.env;
  const command = `'${process.execPath}' '${COMMAND}' login '${url}'`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: place.directory,
    env: { ...env, SHELL: '/bin/sh', TERM: 'xterm', XDG_CONFIG_HOME: join(place.directory, '.user/config') },
  });
  // It may have ended when an answer is typed.
  child.stdin.on('error', () => undefined);
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  try {
    for (const [question, answer] of answers) {
      await until(() => shown.includes(question) || child.exitCode !== null, `the question ${question}`);
      child.stdin.write(`${answer}\r`);
    }
    return { exitCode: await ended, shown };
  } finally {
    child.kill('SIGKILL');
  }
}

test.skipIf(!HAS_SCRIPT)(
  'sluice login asks for e-mail address and password, and does not show the password',
  async () => {
    const { SLUICE_EMAIL, SLUICE_PASSWORD } = CREDENTIALS;
    const typed = await typeLogin(server.url, [
      ['E-mail: ', SLUICE_EMAIL],
      ['Password: ', SLUICE_PASSWORD],
    ]);
    expect(typed.exitCode, typed.shown).toBe(0);
    expect(typed.shown).not.toContain(SLUICE_PASSWORD);
    expect(readdirSync(profiles).sort()).toEqual(['default.token', 'default.yaml']);
  },
);

test.skipIf(!HAS_SCRIPT)('sluice login asks nothing if no service answers', async () => {
  const url = server.url;
  await server.kill();
  const { exitCode, shown } = await typeLogin(url, []);
  expect(exitCode, shown).toBe(3);
  expect(shown).not.toContain('E-mail');
  expect(readdirSync(place.directory)).not.toContain('.user');
});
