import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, parseLines, pause, type Started, until, type Workplace } from './workplace-rig.ts';

let place: Workplace;
let server: Started | undefined;

const PIPELINE = `
version: 1
name: greet
steps:
  hello: { command: [sh, -c, "echo hello > /out/text; echo 5 > /sluice/results/size"], outputs: { text: /out }, results: { size: integer } }
  shout: { command: [sh, -c, "tr a-z A-Z < /in/text/text > /out/text"], inputs: { text: hello.text }, outputs: { text: /out } }
outputs:
  text: { from: shout.text, publish: ./results }
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

function configure(extra = ''): void {
  const text = `
root: ./data
clusters:
  - id: main
    engine: process
    capacity: { cores: 4, memoryGB: 4 }
    accounts: [physics]
    instanceTypes: [{ id: small, cores: 1, memoryGB: 1 }]
listen: [{ host: 127.0.0.1, port: 0 }]
sftp: { host: 127.0.0.1, port: 0 }
ports: { host: 127.0.0.1, port: 0, domain: apps.test }
${extra}`;
  writeFileSync(join(place.directory, 'service.yaml'), text);
}

function admin(...args: string[]) {
  return place.start(['user', ...args, '--config', 'service.yaml'], { env: { SLUICE_PASSWORD: 'sesame' } }).ended;
}

/** Serves and returns the address. */
async function serve(): Promise<string> {
  const started = place.start(['serve', '--config', 'service.yaml', '--log-level', 'error']);
  server = started;
  await until(() => started.stdout().includes('\n') || started.process.exitCode !== null, 'the service to listen');
  return /^listening on (\S+)/.exec(started.stdout())?.[1] ?? '';
}

beforeEach(() => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
});

afterEach(async () => {
  server?.process.kill('SIGKILL');
  await server?.ended;
  place.remove();
});

test('a pipeline runs unchanged on a service across HTTP, with login and files over WebDAV', async () => {
  configure();
  expect(await admin('add', 'a@example.org')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await admin('grant', 'a@example.org', 'main/physics')).toMatchObject({ exitCode: 0 });
  expect((await admin('list')).stdout).toContain('a@example.org  main/physics');
  const url = await serve();
  const env = { SLUICE_EMAIL: 'a@example.org', SLUICE_PASSWORD: 'sesame' };
  const run = await place.start(['run', 'p.yaml', '--service', url], { env }).ended;
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  expect(run.stdout).toMatch(/hello +size +5/);
  expect(place.read('results/text')).toBe('HELLO\n');

  const wrong = await place.start(['run', 'p.yaml', '--service', url], { env: { ...env, SLUICE_PASSWORD: 'open' } })
    .ended;
  expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('password is wrong') });

  server?.process.kill('SIGTERM');
  expect(await server?.ended).toMatchObject({ exitCode: 0, stderr: '' });
});

test('sluice user refuses what is not there, and changes nothing', async () => {
  configure();
  expect(await admin('grant', 'b@example.org', 'main/physics')).toMatchObject({ exitCode: 2 });
  await admin('add', 'a@example.org');
  expect(await admin('add', 'a@example.org')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('exists') });
  expect(await admin('grant', 'a@example.org', 'main/chemistry')).toMatchObject({
    exitCode: 2,
    stderr: 'There is no account main/chemistry; the configuration has main/physics\n',
  });
});

test('accounts and instance types are added by command, and count after SIGHUP', async () => {
  configure();
  const url = await serve();
  const change = (...args: string[]) => place.sluice(...args, '--config', 'service.yaml');
  expect(await change('instance-type', 'add', 'main/huge', 'cores=64', 'memoryGB=1')).toMatchObject({ exitCode: 0 });
  expect(await change('instance-type', 'add', 'main/tiny', 'cores=few', 'memoryGB=1')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/left as it is:\nservice\.yaml:\d+:\d+: .*cores/),
  });
  expect((await change('instance-type', 'list')).stdout).toMatch(/main\/huge +64/);
  await admin('add', 'a@example.org');
  await admin('grant', 'a@example.org', 'main/physics');
  const token = await logIn(url);
  const types = async () => {
    const at = `${url}/api/v1rc1/clusters/main/instanceTypes`;
    return (await fetch(at, { headers: { authorization: `Bearer ${token}` } })).text();
  };
  expect(await types()).not.toContain('huge');
  server?.process.kill('SIGHUP');
  for (let look = 0; look < 500 && !(await types()).includes('huge'); look++) await pause(20);
  expect(await types()).toContain('huge');
});

test('a served schedule runs in its account, is told its planned time, and neither misses nor doubles over kills', async () => {
  const home = 'data/schedules/main/physics';
  mkdirSync(join(place.directory, 'nightly'));
  writeFileSync(join(place.directory, 'nightly/good.yaml'), NIGHTLY);
  writeFileSync(join(place.directory, 'nightly/bad.yaml'), NIGHTLY.replace('command', 'comand'));
  configure('schedules: [{ account: main/physics, files: [nightly] }]');
  await serve();
  const watchedFile = join(place.directory, home, 'schedules/nightly/watched.json');
  await until(() => existsSync(watchedFile), 'the schedule to be watched');
  await kill();
  // As if the service had been away since yesterday.
  const watched = JSON.parse(readFileSync(watchedFile, 'utf8'));
  writeFileSync(watchedFile, JSON.stringify({ ...watched, since: watched.since - 86_400_000 }));
  await serve();
  await until(() => existsSync(join(place.directory, 'nightly/results/time')), 'the run of last night');
  await kill();
  // Whether that was before or after the run's end: the next one brings it to its end, and starts no other.
  await serve();
  const statuses = async () => {
    const { stdout } = await place.sluice('runs', '--json', '--home', home);
    return parseLines<{ status: string }>(stdout).map(({ status }) => status);
  };
  for (let look = 0; look < 30 && !(await statuses()).includes('succeeded'); look++) await pause(100);
  expect(await statuses()).toEqual(['succeeded']);
  expect(place.read('nightly/results/time')).toMatch(/^20\d\d-\d\d-\d\dT\d\d:00:00Z\n$/);
});

async function kill(): Promise<void> {
  server?.process.kill('SIGKILL');
  await server?.ended;
}

async function logIn(url: string): Promise<string> {
  const password = createHash('md5').update('sesame').digest('hex');
  const fields = { token_type: 'TOKEN', third_party: 'SELF', email: 'a@example.org', password };
  const reply = await fetch(`${url}/user/api/login`, { method: 'POST', body: new URLSearchParams(fields) });
  return reply.headers.get('svc_token') ?? '';
}

test('sluice serve refuses a wrong configuration with line and column', async () => {
  configure('listne: []\n');
  const { exitCode, stderr } = await place.sluice('serve', '--config', 'service.yaml');
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^service\.yaml:\d+:\d+: .*listne/);
});
