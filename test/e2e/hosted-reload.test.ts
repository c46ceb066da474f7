import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { obtainToken } from '@sluice/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isLocked } from '../../packages/host-system/src/lock-file.ts';
import { createCaller, prepareOrder } from './hosted-rig.ts';
import { addUser, CREDENTIALS, configure, type Server, serve } from './served-rig.ts';
import { createWorkplace, makeSharedDirectory, until, type Workplace } from './workplace-rig.ts';

const PHYSICS = { clusterID: 'main', accountID: 'physics' };
const OTHER = { clusterID: 'other', accountID: 'physics' };

let place: Workplace;
let shared: string;
let server: Server;

beforeEach(async () => {
  place = createWorkplace();
  shared = makeSharedDirectory();
});

afterEach(async () => {
  await server?.kill();
  place.remove();
  rmSync(shared, { recursive: true });
});

/** The clusters of the configuration, of which the first may have no account. */
const clusters = (main = 'physics') =>
  [`main, accounts: [${main}]`, 'other, accounts: [physics]']
    .map(
      (one) => `
  - { id: ${one}, engine: process, capacity: { cpu: 4, memory: 4GB }, instanceTypes: [{ id: small, cpu: 1, memory: 1GB }] }`,
    )
    .join('');

async function open(extra = ''): Promise<void> {
  configure(place, { clusters: clusters(), extra });
  await addUser(place, 'main/physics', 'other/physics');
  server = await serve(place);
}

/** Changes the configuration and has the running server read it. */
function reload(config: Parameters<typeof configure>[1]): void {
  configure(place, { clusters: clusters(), ...config });
  server.process.kill('SIGHUP');
}

/** The runs of an account, through the API. */
async function openAccount(scope = PHYSICS) {
  const { url } = server;
  const { clusterID, accountID } = scope;
  const login = { email: CREDENTIALS.SLUICE_EMAIL, password: CREDENTIALS.SLUICE_PASSWORD };
  const token = await obtainToken({ baseUrl: url, login });
  const api = `${url}/api/sluice/v1/clusters/${clusterID}/accounts/${accountID}`;
  const at = { url, api, directory: place.directory, tokens: { member: token, nonMember: token } };
  const caller = createCaller(at);
  return {
    ...caller,
    /** Starts a run whose first step waits until `finish`, and whose second one checks its secret. */
    async begin(name: string): Promise<string> {
      const text = `version: 1
name: ${name}
secrets: [TOKEN]
steps:
  first: { command: 'until [ -e ${shared}/${name} ]; do sleep 0.1; done' }
  second: { command: '[ "$TOKEN" = a-secret-value ]', needs: [first], secrets: [TOKEN] }
`;
      const run = await prepareOrder(at, text, { scope, secrets: { TOKEN: 'a-secret-value' } });
      expect(await caller.order(run)).toMatchObject({ status: 200 });
      return run.runId;
    },
    begun: (runId: string) =>
      until(async () => {
        const { states } = (await caller.json('GET', `/runs/${runId}/states`)).body;
        return states?.[0] === 'r';
      }, `run ${runId} to begin`),
    ended: (runId: string) =>
      until(async () => (await caller.status(runId)) === 'succeeded', `run ${runId} to succeed`),
    /** How many containers a run has submitted. */
    submitted(runId: string): number {
      const file = join(place.directory, 'data/hosted', clusterID, accountID, 'runs', runId, 'journal.ndjson');
      const lines = readFileSync(file, 'utf8').split('\n');
      return lines.filter((line) => line.includes('"kind":"intent"')).length;
    },
  };
}

const finish = (name: string) => writeFileSync(join(shared, name), '');

test('a reload while runs are in progress applies limits and keys at once, and starts and stops nothing', async () => {
  await open('runs: { concurrent: 1 }');
  const account = await openAccount();
  const a = await account.begin('a');
  await account.begun(a);
  const b = await account.begin('b');

  // The waiting run has a slot now, but its secrets cannot be decrypted with the new key.
  reload({ extra: 'runs: { concurrent: 2, keyFile: other.key }' });
  const executorOf = async (runId: string) => {
    const reply = await account.call('GET', '/runs');
    const { runs } = (await reply.json()) as { runs: { runId: string; executor: string }[] };
    return runs.find((one) => one.runId === runId)?.executor;
  };
  await until(async () => (await executorOf(b)) === 'none', 'the run without its key to be left');
  const c = await account.begin('c');
  await account.begun(c);
  expect(existsSync(join(place.directory, 'other.key'))).toBe(true);
  expect([a, b, c].map(account.submitted)).toEqual([1, 0, 1]);

  reload({ extra: 'runs: { concurrent: 3 }' });
  await account.begun(b);
  for (let times = 0; times < 5; times++) server.process.kill('SIGHUP');
  for (const name of ['a', 'b', 'c']) finish(name);
  for (const runId of [a, b, c]) await account.ended(runId);
  expect([a, b, c].map(account.submitted)).toEqual([2, 2, 2]);
});

test('the runs of an account that a reload removes are left, and continue when it is added again', async () => {
  await open();
  const [account, other] = [await openAccount(), await openAccount(OTHER)];
  const a = await account.begin('a');
  const b = await other.begin('b');
  await account.begun(a);
  await other.begun(b);

  reload({ clusters: clusters('') });
  const lock = join(place.directory, 'data/hosted/main/physics/host/.lock');
  await until(async () => !(await isLocked(lock)), 'the server to leave the runs of the account');
  expect((await account.json('GET', `/runs/${a}`)).status).toBe(403);
  expect((await account.json('POST', `/runs/${a}:cancel`, {})).status).toBe(403);
  // The container of the step keeps running and ends by itself; nothing follows it.
  finish('a');
  finish('b');
  await other.ended(b);
  expect([account.submitted(a), other.submitted(b)]).toEqual([1, 2]);

  reload({});
  await account.ended(a);
  expect(account.submitted(a)).toBe(2);
});
