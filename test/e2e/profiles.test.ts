import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, parseLines, type Workplace } from './workplace-rig.ts';

const TWO = ['main', 'side'].map(
  (id) => `
  - id: ${id}
    engine: process
    capacity: { cpu: 4, memory: 4GB }
    accounts: [physics]
    instanceTypes: [{ id: small, cpu: 1, memory: 1GB }]`,
);

let place: Workplace;
let server: Server;
let profiles: string;

beforeEach(async () => {
  place = createWorkplace();
  profiles = join(place.directory, '.user/config/sluice/profiles');
  server = await serveNew(place, { clusters: TWO.join(''), accounts: ['main/physics', 'side/physics'] });
});

afterEach(async () => {
  await server.kill();
  place.remove();
});

const login = (...args: string[]) => place.start(['login', server.url, ...args], { env: CREDENTIALS }).ended;
const readProfile = (name: string) => readFileSync(join(profiles, name), 'utf8');
const json = async (...args: string[]) => {
  const { stdout, stderr, exitCode } = await place.sluice(...args, '--json');
  expect({ exitCode, stderr }, args.join(' ')).toMatchObject({ exitCode: 0 });
  return parseLines<Record<string, unknown>>(stdout);
};

test('a login is chosen with --account, shown by whoami, and removed by logout', async () => {
  const ambiguous = await login('--profile', 'gpu');
  expect(ambiguous).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('\n  --account main/physics\n') });
  const conflict = await login('--profile', 'gpu', '--account', 'side/physics', '--cluster', 'main');
  expect(conflict).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('on another cluster') });
  expect(await login('--profile', 'gpu', '--account', 'side/physics')).toMatchObject({ exitCode: 0 });
  const token = readProfile('gpu.token').trim();
  const accounts = ['main', 'side'].map((clusterId) => ({ clusterId, accountId: 'physics' }));
  const file = join(profiles, 'gpu.yaml');
  expect(await json('whoami', '--profile', 'gpu')).toMatchObject([
    { type: 'identity', service: server.url, email: 'a@example.org', file, accounts },
  ]);
  const [local] = await json('whoami');
  expect(local).toMatchObject({ home: place.home, accounts: [{ clusterId: 'local', accountId: 'local' }] });
  expect(local).not.toHaveProperty('service');
  const told = await place.sluice('whoami');
  expect(told).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('the embedded service of') });

  const out = await place.sluice('logout', 'gpu');
  expect(out).toMatchObject({ exitCode: 0, stderr: '' });
  expect(out.stdout).toContain(`${server.url} accepts the token until it expires`);
  expect(readdirSync(profiles)).toEqual(['gpu.yaml']);
  expect(readProfile('gpu.yaml')).toBe(
    `service: ${server.url}\ncluster: side\naccount: physics\nemail: a@example.org\n`,
  );
  expect(await json('logout', 'gpu')).toMatchObject([{ type: 'logout', profile: 'gpu', removed: false }]);
  expect(await place.sluice('whoami', '--profile', 'gpu')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(`log in with: sluice login ${server.url} --profile gpu`),
  });
  expect(await place.sluice('logout', 'other')).toMatchObject({ exitCode: 2 });
  expect(await place.sluice('logout', './gpu.yaml')).toMatchObject({ exitCode: 2 });
  const stale = place.start(['whoami', '--service', server.url], { env: { SLUICE_TOKEN: 'stale' } });
  expect(await stale.ended).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('SLUICE_TOKEN is wrong') });
  const own = await place.start(['whoami', '--service', server.url], { env: { SLUICE_TOKEN: token } }).ended;
  expect(own).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^login +a token$/m) });
});

test('logout removes only a token that a login has written', async () => {
  mkdirSync(profiles, { recursive: true });
  writeFileSync(join(place.directory, 'key'), 'secret\n');
  writeFileSync(join(profiles, 'gpu.yaml'), `service: ${server.url}\ntokenFile: ${join(place.directory, 'key')}\n`);
  const refused = await place.sluice('logout', 'gpu');
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('remove that file yourself') });
  expect(existsSync(join(place.directory, 'key'))).toBe(true);
});

test('profiles are listed and shown without secrets, and a home uses one of them', async () => {
  expect(await login('--account', 'main/physics')).toMatchObject({ exitCode: 0 });
  expect(await login('--profile', 'gpu', '--account', 'side/physics')).toMatchObject({ exitCode: 0 });
  writeFileSync(join(profiles, 'broken.yaml'), 'colour: red\n');
  writeFileSync(join(profiles, 'gpu.yaml'), `${readProfile('gpu.yaml')}otlp: http://me:pass@127.0.0.1:4318\n`);
  const secrets = [readProfile('gpu.token').trim(), readProfile('default.token').trim(), 'pass@', 'sesame'];
  const list = async (...args: string[]) => {
    const values = await json('profile', 'list', ...args);
    return values.map(({ profile, file, selectedBy }) => [profile ?? file, selectedBy]);
  };
  const none = undefined;
  expect(await list()).toEqual([
    ['broken', none],
    ['default', 'default'],
    ['gpu', none],
  ]);
  expect(await list('--profile', 'gpu')).toEqual([
    ['broken', none],
    ['default', none],
    ['gpu', 'flag'],
  ]);

  const used = await place.sluice('profile', 'use', 'gpu');
  expect(used).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('uses your profile gpu') });
  const ofHome = join(place.home, 'profile.yaml');
  expect(readFileSync(ofHome, 'utf8')).toBe('use: gpu\n');
  expect(await list()).toEqual([
    ['broken', none],
    ['default', none],
    ['gpu', none],
    [ofHome, 'home'],
  ]);
  expect(await json('whoami')).toMatchObject([{ service: server.url, file: join(profiles, 'gpu.yaml') }]);
  const env = { SLUICE_ACCOUNT: 'other', SLUICE_TOKEN: 'hidden-token' };
  const shown = await place.start(['profile', 'show', '--json'], { env }).ended;
  const file = join(profiles, 'gpu.yaml');
  expect(parseLines(shown.stdout)).toMatchObject([
    {
      ...{ type: 'profileSettings', file: ofHome, selectedBy: 'home' },
      settings: expect.arrayContaining([
        { setting: 'account', value: 'other', source: 'SLUICE_ACCOUNT' },
        { setting: 'token', source: 'SLUICE_TOKEN' },
        { setting: 'cluster', value: 'side', source: file },
        { setting: 'otlp', value: 'http://127.0.0.1:4318/', source: file },
      ]),
    },
  ]);
  const texts = [shown.stdout, (await place.sluice('profile', 'list')).stdout];
  texts.push((await place.sluice('profile', 'show', 'gpu')).stdout);
  for (const secret of [...secrets, 'hidden-token']) for (const text of texts) expect(text).not.toContain(secret);
  expect(texts[1]).toMatch(/^broken .*colour/m);

  expect(await place.sluice('profile', 'use', 'default')).toMatchObject({ exitCode: 0 });
  expect(await json('whoami')).toMatchObject([{ file: join(profiles, 'default.yaml') }]);
  for (const name of ['nosuch', 'broken', './gpu.yaml']) {
    expect(await place.sluice('profile', 'use', name)).toMatchObject({ exitCode: 2 });
  }
  expect(readFileSync(ofHome, 'utf8')).toBe('use: default\n');
});

test('a home from elsewhere does not choose a profile of the user, and its own settings are not replaced', async () => {
  expect(await login('--profile', 'gpu', '--account', 'side/physics')).toMatchObject({ exitCode: 0 });
  // Found, not named.
  const sluice = (...args: string[]) => place.start(args, { env: { SLUICE_HOME: '' } }).ended;
  mkdirSync(join(place.directory, '.sluice'));
  const ofHome = join(place.directory, '.sluice/profile.yaml');
  writeFileSync(ofHome, 'use: gpu\n');
  const refused = await sluice('whoami');
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('the service of your profile gpu') });
  const [, listed] = parseLines((await sluice('profile', 'list', '--json')).stdout);
  expect(listed).toMatchObject({ use: 'gpu', problem: expect.stringContaining('confirm it once with: sluice trust') });
  expect(await sluice('trust')).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^use +gpu$/m) });
  expect(await sluice('whoami')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(server.url) });
  for (const text of ['use: gpu\naccount: physics\n', 'use: ../gpu\n', 'use: none\n']) {
    writeFileSync(ofHome, text);
    await sluice('trust');
    expect(await sluice('whoami'), text).toMatchObject({ exitCode: 2 });
  }
  writeFileSync(ofHome, 'use: none\n');
  expect(await sluice('profile', 'use', 'gpu')).toMatchObject({ exitCode: 0 });
  expect(await sluice('whoami')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(server.url) });
  writeFileSync(ofHome, `service: ${server.url}\n`);
  const kept = await sluice('profile', 'use', 'gpu');
  expect(kept).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('it has settings of its own') });
  expect(statSync(ofHome).size).toBe(`service: ${server.url}\n`.length);
});
