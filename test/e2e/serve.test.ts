import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Started, until, type Workplace } from './workplace-rig.ts';

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

test('sluice serve refuses a wrong configuration with line and column', async () => {
  configure('listne: []\n');
  const { exitCode, stderr } = await place.sluice('serve', '--config', 'service.yaml');
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^service\.yaml:\d+:\d+: .*listne/);
});
