import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Container, createHttpService, QUEUE_LABEL } from '@sluice/client';
import { expect, test } from 'vitest';
import { createCaller, prepareOrder, useHostedServer } from './hosted-rig.ts';
import { until } from './workplace-rig.ts';

const SCOPE = { clusterID: 'main', accountID: 'physics' };
const FINALLY = "\nfinally:\n  clean: { command: 'true' }";

const server = useHostedServer('runs: { concurrent: 1 }');

/** Starts a run whose only step waits for the file `go` in its output. */
async function begin(caller: ReturnType<typeof createCaller>, rest = '') {
  const text = `version: 1
name: wait
steps:
  work: { command: 'until [ -e /out/go ]; do sleep 0.1; done', outputs: { go: /out } }${rest}`;
  const run = await prepareOrder(server, text);
  expect((await caller.order(run)).status).toBe(200);
  return {
    runId: run.runId,
    finish() {
      const workspace = join(server.directory, 'data/clusters/main/volumes/physics', run.workspaceId);
      writeFileSync(join(workspace, 'runs', run.runId, 'work/work/a1/go/go'), '');
    },
  };
}

/** All containers of a run, also those that have ended. */
async function containersOf(runId: string): Promise<Container[]> {
  const service = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  try {
    const found: Container[] = [];
    for await (const { id } of service.containers.list(SCOPE, { all: true })) {
      const container = await service.containers.get({ ...SCOPE, id });
      if (container.labels?.[QUEUE_LABEL] === runId) found.push(container);
    }
    return found;
  } finally {
    await service.close();
  }
}

test('a waiting run is canceled at once, and its `finally` steps wait until it may be executed', async () => {
  const caller = createCaller(server);
  const ended = (runId: string, status: string) =>
    until(async () => (await caller.status(runId)) === status, `run ${runId} to be ${status}`);
  const first = await begin(caller);
  await until(async () => (await containersOf(first.runId))[0]?.phase === 'Running', 'the first run to be executed');
  const cleaning = await begin(caller, FINALLY);
  const plain = await begin(caller);
  const cancel = async ({ runId }: { readonly runId: string }) =>
    expect((await caller.json('POST', `/runs/${runId}:cancel`, {})).status).toBe(200);
  await cancel(cleaning);
  await cancel(plain);
  await ended(plain.runId, 'canceled');
  expect(await containersOf(cleaning.runId)).toEqual([]);
  first.finish();
  await ended(first.runId, 'succeeded');
  await ended(cleaning.runId, 'canceled');
  const [container, ...others] = await containersOf(cleaning.runId);
  expect(others).toEqual([]);
  expect(container).toMatchObject({ phase: 'Succeeded', labels: { 'sluice-step': 'clean' } });
  const [before] = await containersOf(first.runId);
  expect(Date.parse(container!.createTime!)).toBeGreaterThanOrEqual(Date.parse(before!.endTime!));
});
