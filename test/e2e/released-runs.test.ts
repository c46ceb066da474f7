import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCaller, digestOf, recordRun, useHostedServer } from './hosted-rig.ts';
import { until } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: group
params: { file: go }
concurrency: { overlap: replace }
steps:
  make: { command: 'echo hello > /out/text; while [ ! -e /out/GO ]; do sleep 0.1; done', outputs: { text: /out } }
outputs: { text: { from: make.text, publish: VICTIM } }
`;

const server = useHostedServer();

test('a run that replaces a released one neither cancels nor publishes it, and starts at once', async () => {
  const caller = createCaller(server);
  const victim = join(server.directory, 'data/hosted/main/other/runs/aaaaaaaaaaaaa');
  const released = await recordRun(server, PIPELINE.replace('VICTIM', victim));
  await caller.send(released);
  expect((await caller.start(released)).status).toBe(200);
  const isRunning = async () => (await caller.json('GET', `/runs/${released.runId}/states`)).body.states?.[0] === 'r';
  await until(isRunning, 'the step to run');
  const left = await caller.release(released.runId);
  expect(left.body.status).toBe('suspended');

  const next = await recordRun(server, PIPELINE.replace('VICTIM', victim).replace('GO', 'text'));
  await caller.send(next);
  expect((await caller.start(next)).status).toBe(200);
  await until(async () => (await caller.status(next.runId)) === 'succeeded', 'the next run to end');
  const journal = readFileSync(
    join(server.directory, 'data/hosted/main/physics/runs', released.runId, 'journal.ndjson'),
  );
  expect(digestOf(journal)).toEqual(left.body.journal);
  expect(await isRunning()).toBe(true);
  expect(existsSync(victim)).toBe(false);
});
