import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimHost } from '../../packages/host/src/execute/host-claim.ts';
import { createWorkplace, type Ended, parseLines, until, type Workplace } from './workplace-rig.ts';

/** What a user of this machine has in the environment, for the service that they work with. */
const LOGIN = { SLUICE_TOKEN: 'the-users-own-token' };
const AUTHORIZATION = `Bearer ${LOGIN.SLUICE_TOKEN}`;
const PIPELINE = `
version: 1
name: p
steps:
  make: { command: [sh, -c, "echo made > /out/file"], outputs: { made: /out } }
  ask: { approval: { message: "go on?" }, needs: [make] }
outputs:
  made: { from: make.made }
`;
/** In a user namespace of its own, root may not give files to other users. */
const mayGiveFiles =
  process.getuid?.() === 0 && spawnSync('setpriv', ['--reuid=12345', '--clear-groups', 'true']).status === 0;

let place: Workplace;
let servers: Server[];
let url: string;
/** The Authorization headers that the service got, and the bodies. */
let received: string[];

beforeEach(async () => {
  place = createWorkplace();
  write('p.yaml', PIPELINE);
  servers = [];
  received = [];
  url = await listen(received);
});

afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  place.remove();
});

/** A service that keeps the credentials that it gets, and all else that is sent to it. */
async function listen(kept: string[]): Promise<string> {
  const server = createServer(async (request, reply) => {
    let body = '';
    for await (const part of request) body += part;
    kept.push(`${request.headers.authorization ?? ''}${body}`);
    reply.writeHead(200, { 'content-type': 'application/json' });
    reply.end(JSON.stringify({ accounts: [], token: 'of-the-login' }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function write(path: string, text: string): void {
  writeFileSync(join(place.directory, path), text);
}

/** As people type it: nothing names the home. */
function sluice(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return place.start(args, { env: { SLUICE_HOME: '', ...LOGIN, ...env } }).ended;
}

/** A home with a suspended run of the embedded service. */
async function makeHomeWithRun(): Promise<string> {
  expect(await sluice(['run', 'p.yaml', '--stop-at-approval'])).toMatchObject({ exitCode: 75 });
  return readdirSync(join(place.home, 'runs'))[0]!;
}

const UNCONFIRMED = /could not use the profile .*\/\.sluice\/profile\.yaml, which you have not confirmed: credentials/;

test('no command sends anything to the service of a profile that only lies in the home', async () => {
  const run = await makeHomeWithRun();
  // As `git pull` brings it into a home that is there.
  write('.sluice/profile.yaml', `service: ${url}\n`);
  write('s.yaml', `${PIPELINE}schedule: { cron: "0 0 * * *" }\n`);
  const commands = [
    ...[['run', 'p.yaml'], ['plan', 'p.yaml'], ['resume'], ['adopt', 'abcdefghijklm', 'p.yaml']],
    ...[['logs', 'make'], ['pull', 'made'], ['gc'], ['orphans'], ['schedule', 'run', 's.yaml', '--once'], ['cancel']],
  ];
  for (const args of commands) {
    const { exitCode, stderr } = await sluice(args);
    expect(stderr, args.join(' ')).toMatch(UNCONFIRMED);
    expect(stderr).toContain(`would be sent to ${url}/; if you trust it, confirm it once with: sluice trust\n`);
    expect(exitCode).toBe(2);
  }
  for (const args of [['runs'], ['show'], ['why', 'make'], ['report'], ['check', 'p.yaml'], ['doctor']]) {
    await sluice(args);
  }
  expect(await sluice(['show', run])).toMatchObject({ exitCode: 0 });
  expect(received).toEqual([]);
});

test('neither sluice ui nor a background process sends anything to the service of a profile that only lies in the home', async () => {
  write('s.yaml', `${PIPELINE.replace('name: p', 'name: nightly')}schedule: { cron: "0 0 * * *" }\n`);
  expect(await sluice(['schedule', 'run', 's.yaml', '--once'])).toMatchObject({ exitCode: 0 });
  const detached = await sluice(['run', 'p.yaml', '--detach', '--json']);
  const { runId } = parseLines<{ runId: string }>(detached.stdout).at(-1)!;
  write('.sluice/profile.yaml', `service: ${url}\n`);
  const ui = place.start(['ui', '--listen', '127.0.0.1:0'], { env: { SLUICE_HOME: '', ...LOGIN }, isEndless: true });
  try {
    await until(() => ui.stderr().includes('schedule nightly: could not run it: '), 'the schedule to be opened');
    await until(() => ui.stderr().includes(`run ${runId}: could not use`), 'the detached run to be opened');
    const api = JSON.parse(readFileSync(join(place.home, 'host/api.json'), 'utf8')) as { url: string; token: string };
    const post = (path: string, body: object) =>
      fetch(`${api.url}${path}`, {
        ...{ method: 'POST', body: JSON.stringify(body) },
        headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
      }).then(async (reply) => `${reply.status} ${await reply.text()}`);
    for (const [path, body] of [
      ['/schedules/nightly:run', {}],
      ['/runs', { file: join(place.directory, 'p.yaml') }],
    ] as const) {
      expect(await post(path, body), path).toMatch(new RegExp(`^409 .*${UNCONFIRMED.source}`));
    }
    const schedule = ui.stderr().match(/schedule nightly: could not run it: .*/)![0];
    expect(schedule).toMatch(UNCONFIRMED);
  } finally {
    ui.process.kill('SIGTERM');
    await ui.ended;
  }
  // A dashboard that cannot listen leaves the runs to a background process.
  const { exitCode, stderr } = await sluice(['ui', '--listen', new URL(url).host]);
  expect(stderr).toContain('continue in the background');
  expect(exitCode).toBe(2);
  const log = () => readFileSync(join(place.home, 'host/host.log'), 'utf8');
  await until(() => log().includes(`run ${runId}: could not use`), 'the background process to open the run');
  expect(received).toEqual([]);
  rmSync(join(place.home, 'profile.yaml'));
  const canceled = await sluice(['cancel', runId]);
  expect(canceled.exitCode, canceled.stderr).toBe(0);
  await until(async () => {
    const claim = await claimHost(place.home, () => undefined);
    await claim?.release();
    return claim !== undefined;
  }, 'the end of the background process');
});

test('sluice trust confirms the profile as it is, for this directory only', async () => {
  mkdirSync(place.home, { mode: 0o700 });
  write('.sluice/profile.yaml', `service: ${url}\n`);
  const trusted = await sluice(['trust']);
  expect(trusted).toMatchObject({ exitCode: 0, stderr: '' });
  expect(trusted.stdout).toContain(`service  ${url}\n`);
  await sluice(['plan', 'p.yaml']);
  expect(received).toEqual([AUTHORIZATION]);

  write('.sluice/profile.yaml', `service: ${url}\nauthUrl: ${url}/other\n`);
  const changed = await sluice(['plan', 'p.yaml']);
  expect(changed.stderr).toContain('whose authUrl changed since you confirmed it: ');
  expect(changed.stderr).toContain(`would be sent to ${url}/ and ${url}/other; if you trust it`);

  write('.sluice/profile.yaml', `service: ${url}\n`);
  renameSync(place.home, `${place.home}-before`);
  cpSync(`${place.home}-before`, place.home, { recursive: true });
  expect((await sluice(['plan', 'p.yaml'])).stderr).toMatch(UNCONFIRMED);
  expect(received).toHaveLength(1);
});

test('sluice trust keeps nothing in the home, and says how to undo it', async () => {
  mkdirSync(place.home, { mode: 0o700 });
  write('.sluice/profile.yaml', `service: ${url}\n`);
  const { stdout } = await sluice(['trust']);
  const [, file] = /saved the confirmation in (.*); remove that file to undo it\n$/.exec(stdout) ?? [];
  expect(file).toMatch(/\/sluice\/trusted\/[0-9a-f]{64}\.json$/);
  expect(readdirSync(place.home)).toEqual(['profile.yaml']);
  rmSync(file!);
  expect((await sluice(['plan', 'p.yaml'])).stderr).toMatch(UNCONFIRMED);
});

test('a service that a flag, a variable or the own profile names gets the credentials', async () => {
  mkdirSync(place.home, { mode: 0o700 });
  await sluice(['plan', 'p.yaml', '--service', url]);
  await sluice(['plan', 'p.yaml'], { SLUICE_SERVICE: url });
  write('mine.yaml', `service: ${url}\n`);
  await sluice(['plan', 'p.yaml', '--profile', 'mine.yaml']);
  write('.sluice/profile.yaml', `service: ${url}\n`);
  await sluice(['plan', 'p.yaml'], { SLUICE_HOME: place.home });
  await sluice(['plan', 'p.yaml', '--home', '.sluice']);
  rmSync(join(place.home, 'profile.yaml'));
  mkdirSync(join(place.directory, 'config/sluice/profiles'), { recursive: true });
  write('config/sluice/profiles/default.yaml', `service: ${url}\n`);
  await sluice(['plan', 'p.yaml'], { XDG_CONFIG_HOME: join(place.directory, 'config') });
  expect(received).toEqual(Array(6).fill(AUTHORIZATION));
});

test('a flag or variable that names a service does not let an unconfirmed profile take the login elsewhere', async () => {
  const meant: string[] = [];
  const other = await listen(meant);
  mkdirSync(place.home, { mode: 0o700 });
  // What lies in the home would get the password, or another file of the user's.
  write('.sluice/profile.yaml', `authUrl: ${url}\nemail: a@example.org\npasswordFile: /etc/hostname\n`);
  const login = { SLUICE_TOKEN: '', SLUICE_EMAIL: 'ada@example.org', SLUICE_PASSWORD: 'sesame' };
  for (const [args, env] of [
    [['--service', other], login],
    [[], { ...login, SLUICE_SERVICE: other }],
    [['--service', other], { SLUICE_TOKEN: '' }],
  ] as const) {
    const { stderr } = await sluice(['plan', 'p.yaml', ...args], env);
    expect(stderr).toContain(`warning: ignoring the profile ${place.home}/profile.yaml, which you have not confirmed`);
  }
  expect(meant.filter((text) => /ada(@|%40)example/.test(text))).toHaveLength(2);
  expect(received).toEqual([]);
});

test('a home that was copied, or came with an archive or a repository, starts nothing before it is confirmed', async () => {
  await makeHomeWithRun();
  renameSync(place.home, `${place.home}-before`);
  cpSync(`${place.home}-before`, place.home, { recursive: true });
  for (const args of [['resume'], ['runs'], ['gc'], ['logs', 'make'], ['run', 'p.yaml'], ['plan', 'p.yaml']]) {
    const { exitCode, stderr } = await sluice(args);
    expect(stderr, args.join(' ')).toContain(
      `could not use ${place.home} as the home: it contains runs or a service, and`,
    );
    expect(stderr).toContain(
      'if you trust its contents, confirm it once with: sluice trust; otherwise name another home',
    );
    expect(exitCode).toBe(2);
  }
  expect((await sluice(['doctor'])).stdout).toContain('confirm it once with: sluice trust');
  expect(await sluice(['trust'])).toMatchObject({ exitCode: 0, stderr: '' });
  expect((await sluice(['runs'])).stdout).toContain('suspended');
  expect(await sluice(['runs'], { SLUICE_HOME: place.home })).toMatchObject({ exitCode: 0, stderr: '' });
});

test('a home that was moved on its disk stays usable, and so does one that the user created with only secrets', async () => {
  mkdirSync(join(place.home, 'secrets'), { recursive: true, mode: 0o700 });
  await makeHomeWithRun();
  mkdirSync(join(place.directory, 'elsewhere'));
  renameSync(place.home, join(place.directory, 'elsewhere/.sluice'));
  renameSync(join(place.directory, 'elsewhere/.sluice'), place.home);
  expect(await sluice(['runs'])).toMatchObject({ exitCode: 0, stderr: '' });
});

test('a home that is a link, or that others may write to, is rejected until it is confirmed', async () => {
  await makeHomeWithRun();
  renameSync(place.home, join(place.directory, 'real'));
  symlinkSync('real', place.home);
  expect((await sluice(['runs'])).stderr).toContain('it is a symbolic link and may come from a repository; if you');
  expect(await sluice(['trust'])).toMatchObject({ exitCode: 0 });
  expect(await sluice(['runs'])).toMatchObject({ exitCode: 0, stderr: '' });

  const open = join(place.directory, 'below');
  mkdirSync(join(open, '.sluice'), { recursive: true });
  chmodSync(join(open, '.sluice'), 0o775);
  write('below/p.yaml', PIPELINE);
  const { stderr } = await place.start(['run', 'p.yaml'], { env: { SLUICE_HOME: '' }, cwd: open }).ended;
  expect(stderr).toContain('other users can write to it (mode 775); remove that permission with: chmod go-w; if you');
});

test.skipIf(!mayGiveFiles)(
  'root is rejected the home of another user, unless that user has called sudo or root confirms it',
  async () => {
    const other = 12345;
    await makeHomeWithRun();
    chownSync(place.home, other, other);
    const { exitCode, stderr } = await sluice(['resume']);
    expect(stderr).toContain(
      `could not use ${place.home} as the home: it belongs to user ${other} and you are root; if you`,
    );
    expect(exitCode).toBe(2);
    expect(await sluice(['runs'], { SUDO_UID: '12346' })).toMatchObject({ exitCode: 2 });
    expect(await sluice(['runs'], { SUDO_UID: String(other) })).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await sluice(['trust'])).toMatchObject({ exitCode: 0 });
    expect(await sluice(['runs'])).toMatchObject({ exitCode: 0, stderr: '' });
  },
);

test.skipIf(!mayGiveFiles)(
  'root works in the checkout of another user, as in a container, with a home of its own',
  async () => {
    chmodSync(place.directory, 0o755);
    chownSync(place.directory, 12345, 12345);
    await makeHomeWithRun();
    expect(await sluice(['runs'])).toMatchObject({ exitCode: 0, stderr: '' });
  },
);
