import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addUser, administer, CREDENTIALS, configure, type Server, serve } from './served-rig.ts';
import { COMMAND, createWorkplace, parseLines, until, type Workplace } from './workplace-rig.ts';

let place: Workplace;
let server: Server | undefined;

const PIPELINE = `
version: 1
name: greet
steps:
  hello: { command: [sh, -c, "echo hello > /out/text; echo 5 > /sluice/results/size"], outputs: { text: /out }, results: { size: integer } }
  shout: { command: [sh, -c, "tr a-z A-Z < /in/text/text > /out/text"], inputs: { text: hello.text }, outputs: { text: /out } }
outputs:
  text: { from: shout.text, publish: ./results }
`;

const MORE = `
sftp: { host: 127.0.0.1, port: 0 }
ports: { host: 127.0.0.1, port: 0, domain: apps.test }
`;

/** Its time comes twelve hours from now, and came twelve hours ago. */
const NIGHTLY = `
version: 1
name: nightly
schedule: { cron: 0 ${(new Date().getUTCHours() + 12) % 24} * * *, catchup: latest, timezone: UTC }
steps:
  tell:
    command: [sh, -c, 'echo "$1" > /out/time', tell, "\${{ run.plannedTime }}"]
    outputs: { time: /out }
outputs:
  time: { from: tell.time, publish: ./results }
`;

const admin = (...args: string[]) => administer(place, ...args);

beforeEach(() => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
});

afterEach(async () => {
  await server?.kill();
  place.remove();
});

test('sluice admin user takes a password from standard input, also without the end of its line, and says where there is none', () => {
  configure(place);
  const add = (email: string, input: string) =>
    spawnSync(process.execPath, [COMMAND, 'admin', 'user', 'add', email, '--config', 'service.yaml'], {
      ...{ cwd: place.directory, input, encoding: 'utf8' },
    });
  expect(add('a@example.org', 'sesame')).toMatchObject({ status: 0, stdout: 'added a@example.org\n' });
  expect(add('b@example.org', '')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('could not use the password: it is empty'),
  });
});

test('a pipeline runs unchanged on a service across HTTP, with login and files over WebDAV', async () => {
  configure(place, { extra: MORE });
  await addUser(place, 'main/physics');
  expect((await admin('list')).stdout).toContain('a@example.org  main/physics');
  server = await serve(place);
  const at = ['run', 'p.yaml', '--service', server.url];
  const run = await place.start(at, { env: CREDENTIALS }).ended;
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  expect(run.stdout).toMatch(/hello +size +5/);
  expect(place.read('results/text')).toBe('HELLO\n');

  const wrong = await place.start(at, { env: { ...CREDENTIALS, SLUICE_PASSWORD: 'open' } }).ended;
  expect(wrong).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('password is wrong') });

  server.process.kill('SIGTERM');
  expect(await server.ended).toMatchObject({ exitCode: 0, stderr: '' });
});

test('sluice admin user rejects what is not there, and changes nothing', async () => {
  configure(place);
  expect(await admin('grant', 'b@example.org', 'main/physics')).toMatchObject({ exitCode: 2 });
  await admin('add', 'a@example.org');
  expect(await admin('add', 'a@example.org')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('exists') });
  expect(await admin('grant', 'a@example.org', 'main/chemistry')).toMatchObject({
    exitCode: 2,
    stderr: 'could not find account main/chemistry; the configuration defines main/physics\n',
  });
});

test('accounts and instance types are added by command, and count after SIGHUP', async () => {
  configure(place);
  server = await serve(place);
  const { url } = server;
  const change = (...args: string[]) => place.sluice('admin', ...args, '--config', 'service.yaml');
  expect(await change('instance-type', 'add', 'main/huge', 'cpu=64', 'memory=1GB')).toMatchObject({ exitCode: 0 });
  expect(await change('instance-type', 'add', 'main/tiny', 'cpu=few', 'memory=1GB')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/the file is unchanged:\nservice\.yaml:\d+:\d+: .*cpu/),
  });
  expect((await change('instance-type', 'list')).stdout).toMatch(/main\/huge +64/);
  await addUser(place, 'main/physics');
  const token = await logIn(url);
  const types = async () => {
    const at = `${url}/api/v1rc1/clusters/main/instanceTypes`;
    return (await fetch(at, { headers: { authorization: `Bearer ${token}` } })).text();
  };
  expect(await types()).not.toContain('huge');
  server.process.kill('SIGHUP');
  await until(async () => (await types()).includes('huge'), 'the new instance type');
});

test('a cluster added by command and a changed address count after SIGHUP', async () => {
  configure(place);
  const started = await serve(place);
  server = started;
  const added = ['engine=process', '--instance-type', 'tiny,cpu=1,memory=1GB', '--config', 'service.yaml'];
  expect(await place.sluice('admin', 'cluster', 'add', 'second', ...added)).toMatchObject({ exitCode: 0 });
  const file = join(place.directory, 'service.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('listen: [{ host: 127.0.0.1', 'listen: [{ host: 127.0.0.2'));
  started.process.kill('SIGHUP');
  await until(() => started.stdout().split('\n').length === 3, 'the service to listen on the other address');
  const url = /listening on (\S*127\.0\.0\.2\S*)/.exec(started.stdout())?.[1];
  expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ engines: { main: 'ready', second: 'ready' } });
  await expect(fetch(`${started.url}/readyz`)).rejects.toThrow();
});

test('a served schedule runs in its account, receives its planned time, and neither misses nor doubles over kills', async () => {
  const home = 'data/schedules/main/physics';
  mkdirSync(join(place.directory, 'nightly'));
  writeFileSync(join(place.directory, 'nightly/good.yaml'), NIGHTLY);
  writeFileSync(join(place.directory, 'nightly/bad.yaml'), NIGHTLY.replace('command', 'comand'));
  configure(place, { extra: 'schedules: [{ account: main/physics, files: [nightly] }]' });
  server = await serve(place);
  const watchedFile = join(place.directory, home, 'schedules/nightly/watched.json');
  await until(() => existsSync(watchedFile), 'the schedule to be watched');
  await server.kill();
  // As if the service had been away since yesterday.
  const watched = JSON.parse(readFileSync(watchedFile, 'utf8'));
  writeFileSync(watchedFile, JSON.stringify({ ...watched, since: watched.since - 86_400_000 }));
  server = await serve(place);
  await until(() => existsSync(join(place.directory, 'nightly/results/time')), 'the run of last night');
  await server.kill();
  // Whether that was before or after the run's end: the next one brings it to its end, and starts no other.
  server = await serve(place);
  const statuses = async () => {
    const { stdout } = await place.sluice('runs', '--json', '--home', home);
    return parseLines<{ status: string }>(stdout).map(({ status }) => status);
  };
  await until(async () => (await statuses()).includes('succeeded'), 'the end of the run');
  expect(await statuses()).toEqual(['succeeded']);
  expect(place.read('nightly/results/time')).toMatch(/^20\d\d-\d\d-\d\dT\d\d:00:00Z\n$/);
});

async function logIn(url: string): Promise<string> {
  const password = createHash('md5').update(CREDENTIALS.SLUICE_PASSWORD).digest('hex');
  const fields = { token_type: 'TOKEN', third_party: 'SELF', email: CREDENTIALS.SLUICE_EMAIL, password };
  const reply = await fetch(`${url}/user/api/login`, { method: 'POST', body: new URLSearchParams(fields) });
  return reply.headers.get('svc_token') ?? '';
}

test('sluice serve rejects a wrong configuration with line and column', async () => {
  configure(place, { extra: 'listne: []\n' });
  const { exitCode, stderr } = await place.sluice('serve', '--config', 'service.yaml');
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^service\.yaml:\d+:\d+: .*listne/);
});
