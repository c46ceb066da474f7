import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, pause, type Started, until, type Workplace } from './workplace-rig.ts';

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
