import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Container, createHttpService, QUEUE_LABEL } from '@sluice/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCaller, createHostedPlace, type HostedServer, type PreparedOrder, prepareOrder } from './hosted-rig.ts';
import { until } from './workplace-rig.ts';

const SCOPE = { clusterID: 'main', accountID: 'physics' };

/** A run that replaces another one of its group, which then cleans up with a secret. */
const pipeline = (command: string, clean = 'true') => `version: 1
name: nightly
secrets: [token]
concurrency: { overlap: replace }
steps: { work: { command: '${command}' } }
finally: { clean: { command: '${clean}', secrets: [token] } }
`;

let place: ReturnType<typeof createHostedPlace>;
let server: HostedServer;

beforeEach(async () => {
  place = createHostedPlace('runs: { concurrent: 1 }');
  server = await place.open();
});

afterEach(async () => {
  await server.close();
  place.remove();
});

const fileOf = ({ runId }: PreparedOrder, name: string) =>
  join(place.directory, 'data/hosted/main/physics/runs', runId, name);

async function begin(text: string): Promise<PreparedOrder> {
  const caller = createCaller(server);
  const run = await prepareOrder(server, text, { secrets: { token: 'a-secret' } });
  expect((await caller.order(run)).status).toBe(200);
  return run;
}

const untilStatus = ({ runId }: PreparedOrder, status: string) =>
  until(async () => (await createCaller(server).status(runId)) === status, `run ${runId} to be ${status}`);

/** The containers of a run, by their steps; also those that have ended. */
async function containersOf({ runId }: PreparedOrder): Promise<Readonly<Record<string, Container>>> {
  const service = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  try {
    const found: [string, Container][] = [];
    for await (const { id } of service.containers.list(SCOPE, { all: true })) {
      const container = await service.containers.get({ ...SCOPE, id });
      if (container.labels?.[QUEUE_LABEL] === runId) found.push([container.labels['sluice-step']!, container]);
    }
    return Object.fromEntries(found);
  } finally {
    await service.close();
  }
}

/** A run whose container runs, and which the server has dropped. */
async function beginAndDrop(text: string): Promise<PreparedOrder> {
  const run = await begin(text);
  await until(async () => (await containersOf(run)).work?.phase === 'Running', 'the step to run');
  await server.close();
  rmSync(fileOf(run, 'custody.json'));
  server = await place.open();
  return run;
}

test('a run that replaces one which no process executes lets that one end first, with its slot', async () => {
  const earlier = await beginAndDrop(pipeline('sleep 600'));
  const later = await begin(pipeline('true'));
  await untilStatus(earlier, 'canceled');
  await until(() => !existsSync(fileOf(earlier, 'secrets.sealed')), 'the secrets to be removed');
  await untilStatus(later, 'succeeded');
  const { work, clean } = await containersOf(earlier);
  expect([work?.phase, clean?.phase]).toEqual(['Canceled', 'Succeeded']);
  const next = await containersOf(later);
  expect(Date.parse(next.work!.createTime!)).toBeGreaterThanOrEqual(Date.parse(clean!.endTime!));
  expect(existsSync(fileOf(earlier, 'custody.json'))).toBe(false);
});

test('a server that closes leaves what is replaced, and the next one lets it end', async () => {
  const earlier = await beginAndDrop(pipeline('sleep 600', 'until [ -e /tmp/never ]; do sleep 0.1; done'));
  const later = await begin(pipeline('true'));
  await until(async () => (await containersOf(earlier)).clean?.phase === 'Running', 'the `finally` step to run');
  await server.close();
  expect(existsSync(fileOf(earlier, 'custody.json'))).toBe(true);
  server = await place.open();
  const { id } = (await containersOf(earlier)).clean!;
  const service = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  await service.containers.cancel({ ...SCOPE, id });
  await service.close();
  await untilStatus(earlier, 'canceled');
  await untilStatus(later, 'succeeded');
});
