import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpService, SECRET_ENVS_LABEL } from '@sluice/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLmdbStore } from '../../packages/service/src/store/lmdb-store.ts';
import { TABLES } from '../../packages/service/src/store/tables.ts';
import { findClear } from '../../packages/service/test/engines/find-clear.ts';
import { createCaller, createHostedPlace, type HostedServer, type PreparedOrder, prepareOrder } from './hosted-rig.ts';
import { watchNeighbor } from './hostile-account.ts';
import { until } from './workplace-rig.ts';

const VALUE = 'a-very-secret-value';
const SCOPE = { clusterID: 'main', accountID: 'physics' };
/** The step succeeds only with the right value, which the pipeline does not contain. */
const CHECKED = `[ "$token" = a-very-$(echo secret)-value ] || exit 9`;
const RUNNING = `version: 1
name: running
secrets: [token]
steps:
  use: { command: '${CHECKED}; while [ ! -e /out/go ]; do sleep 0.1; done', secrets: [token], outputs: { go: /out } }
`;
const ASKING = `version: 1
name: asking
secrets: [token]
steps:
  ask: { approval: { message: go on } }
  use: { command: '${CHECKED}', secrets: [token], needs: ask }
`;

let place: ReturnType<typeof createHostedPlace>;
let server: HostedServer;
let lines: string[];

beforeEach(async () => {
  lines = [];
  place = createHostedPlace('', { hasNeighbor: true, log: (line) => lines.push(line) });
  server = await place.open();
});

afterEach(async () => {
  await server.close();
  place.remove();
});

const root = () => join(place.directory, 'data');
const keyFile = () => join(place.directory, 'runs.key');

/** The records of containers that contain encrypted variables; the server must be closed. */
async function listSealed(): Promise<string[]> {
  const store = openLmdbStore(join(root(), 'store'), Object.values(TABLES));
  const rows = [...store.range(TABLES.containers, { from: '', to: '~' })];
  await store.close();
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain(VALUE);
  return rows.flatMap(([, { id, sealedEnvs }]) => (sealedEnvs === undefined ? [] : [id]));
}

async function startRun(text: string): Promise<PreparedOrder> {
  const caller = createCaller(server);
  const run = await prepareOrder(server, text, { secrets: { token: VALUE } });
  expect((await caller.order(run)).status).toBe(200);
  return run;
}

/** Waits for the letter of the status of a step. */
async function untilState({ runId }: PreparedOrder, index: number, letter: string): Promise<void> {
  const caller = createCaller(server);
  const stateOf = async () => (await caller.json('GET', `/runs/${runId}/states`)).body.states?.[index];
  await until(async () => (await stateOf()) === letter, `step ${index} of the run to have the status ${letter}`);
}

async function untilEnded({ runId }: PreparedOrder): Promise<void> {
  const caller = createCaller(server);
  await until(async () => !['running', 'suspended'].includes((await caller.status(runId))!), 'the run to end');
  expect(await caller.status(runId)).toBe('succeeded');
}

/** Creates a container of no run. */
async function create(id: string, command: string, envs: Record<string, string> = {}): Promise<void> {
  const service = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  const secret = Object.keys(envs);
  const spec = {
    ...{ command: ['sh', '-c', command], instanceType: 'small', envs },
    ...(secret.length > 0 && { labels: { [SECRET_ENVS_LABEL]: JSON.stringify(secret) } }),
  };
  await service.containers.create(SCOPE, spec, { containerID: id });
  await service.close();
}

async function untilContainerEnded(id: string): Promise<void> {
  const service = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  const read = () => service.containers.get({ ...SCOPE, id });
  await until(async () => (await read()).endTime !== undefined, 'the container to end');
  await service.close();
}

/** All replies of the service about containers. */
async function showContainers(ids: readonly string[]): Promise<string> {
  const service = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  const shown: unknown[] = await Promise.all(ids.map((id) => service.containers.get({ ...SCOPE, id })));
  for await (const listed of service.containers.list(SCOPE)) shown.push(listed);
  await service.close();
  return JSON.stringify(shown);
}

test('the record of a container contains its secrets encrypted until its end, and not afterwards', async () => {
  const run = await startRun(RUNNING);
  await untilState(run, 0, 'r');
  // The containers of a run are deleted at its end.
  await create('kept', `${CHECKED}; exit 3`, { token: VALUE });
  await create('running', 'sleep 600', { token: VALUE });
  await untilContainerEnded('kept');
  expect(findClear(root(), VALUE)).toEqual([]);
  expect(await showContainers(['kept', 'running'])).not.toContain(VALUE);
  await server.close();
  expect(await listSealed()).toHaveLength(2);
  expect(await listSealed()).not.toContain('kept');

  server = await place.open();
  await untilState(run, 0, 'r');
  const workspace = join(root(), 'clusters/main/volumes/physics', run.workspaceId);
  writeFileSync(join(workspace, 'runs', run.runId, 'work/use/a1/go/go'), '');
  await untilEnded(run);
  const service = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  await service.containers.cancel({ ...SCOPE, id: 'running' });
  await service.close();
  await untilContainerEnded('running');
  expect(await showContainers(['kept', 'running'])).not.toContain(VALUE);
  await server.close();
  expect(await listSealed()).toEqual([]);
  expect(findClear(root(), VALUE)).toEqual([]);
  server = await place.open();
});

test('a backup contains no secret in clear, and with the key a restored run continues with it', async () => {
  const run = await startRun(ASKING);
  await untilState(run, 0, 'a');
  await server.close();
  const backup = join(place.directory, 'backup');
  cpSync(root(), backup, { recursive: true });
  expect(findClear(backup, VALUE)).toEqual([]);
  expect(readdirSync(join(backup, 'hosted/main/physics/runs', run.runId))).toContain('secrets.sealed');
  rmSync(root(), { recursive: true });
  renameSync(backup, root());
  server = await place.open();
  await untilState(run, 0, 'a');
  await createCaller(server).json('POST', `/runs/${run.runId}:approve`, { step: 'ask' });
  await untilEnded(run);
});

test.each([
  ['missing', 'the key file is missing', () => rmSync(keyFile())],
  [
    'another one',
    'they were encrypted with another key',
    () => writeFileSync(keyFile(), `${Buffer.alloc(32, 1).toString('base64')}\n`),
  ],
  ['damaged', 'runs.key does not contain a key of 32 bytes in Base64', () => writeFileSync(keyFile(), 'x\n')],
])('with a key that is %s, a run waits and says so, and other accounts notice nothing', async (_, why, lose) => {
  const run = await startRun(ASKING);
  await untilState(run, 0, 'a');
  await server.close();
  const key = readFileSync(keyFile());
  lose();
  lines.length = 0;
  server = await place.open();
  const log = () => lines.map((line) => (JSON.parse(line) as { msg?: string }).msg).join('\n');
  await until(() => log().includes(`run ${run.runId}: could not decrypt its secrets: `), 'the message');
  expect(log()).toContain(why);
  const neighbor = await watchNeighbor(server);
  const caller = createCaller(server);
  await caller.json('POST', `/runs/${run.runId}:approve`, { step: 'ask' });
  expect(await caller.status(run.runId)).toBe('suspended');
  await neighbor.end();
  await server.close();
  writeFileSync(keyFile(), key, { mode: 0o600 });
  server = await place.open();
  // It was approved meanwhile.
  await untilEnded(run);
});

test('a container that waits for capacity fails without the key, and is not started without its variables', async () => {
  for (const at of [1, 2, 3, 4]) await create(`holder-${at}`, 'sleep 600');
  await create('waiting', 'true', { token: VALUE });
  await server.close();
  rmSync(keyFile());
  server = await place.open();
  const again = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  const read = (id: string) => again.containers.get({ ...SCOPE, id });
  for (const at of [1, 2, 3, 4]) await again.containers.cancel({ ...SCOPE, id: `holder-${at}` });
  await until(async () => (await read('waiting')).phase === 'Failed', 'the container to fail');
  expect(await read('waiting')).toMatchObject({
    state: 'could not decrypt its secret variables: the key of the service has changed or is missing',
  });
  await again.close();
});
