import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCaller, createHostedPlace, type HostedServer, prepareOrder } from './hosted-rig.ts';
import { watchNeighbor } from './hostile-account.ts';
import { until } from './workplace-rig.ts';

/** Each attempt that fails leaves a log in the home of the account. */
const GROWING = `version: 1
name: growing
steps:
  fail:
    command: 'head -c 20000 /dev/zero | tr "\\0" x | fold -w 100; exit 1'
    matrix: { n: [1, 2, 3] }
    retry: { limit: 100, backoff: { initial: 1s, max: 1s } }
  wait: { command: 'sleep 600' }
`;

let place: ReturnType<typeof createHostedPlace>;
let server: HostedServer;
let lines: string[];

beforeEach(async () => {
  lines = [];
  place = createHostedPlace('runs: { storage: 200KiB }', { hasNeighbor: true, log: (line) => lines.push(line) });
  server = await place.open();
});

afterEach(async () => {
  await server.close();
  place.remove();
});

const caller = () => createCaller(server);

/** Starts a run and waits until the server has suspended it because it is too large. */
async function growTooLarge(): Promise<string> {
  const run = await prepareOrder(server, GROWING);
  expect((await caller().order(run)).status).toBe(200);
  const isSuspended = async () => (await caller().status(run.runId)) === 'suspended';
  await until(async () => lines.some((line) => line.includes(`run ${run.runId}: suspended: `)), 'the run to be large');
  await until(isSuspended, 'the run to be suspended');
  expect(lines.join('')).toMatch(/the runs of the account use \d+ bytes on the server, and may use 204800/);
  return run.runId;
}

test('a run that grows beyond the storage of its account is suspended, can be canceled, and disturbs no other', async () => {
  const neighbor = await watchNeighbor(server);
  const runId = await growTooLarge();
  await caller().json('POST', `/runs/${runId}:resume`, {});
  expect(await caller().status(runId)).toBe('suspended');
  expect((await caller().json('POST', `/runs/${runId}:cancel`, {})).status).toBe(200);
  await until(async () => (await caller().status(runId)) === 'canceled', 'the run to be canceled');
  await neighbor.end();
});

test('a run that was suspended for its size continues with more storage', async () => {
  const runId = await growTooLarge();
  await server.close();
  server = await place.open('runs: { storage: 200MB }');
  await until(async () => (await caller().status(runId)) === 'running', 'the run to continue');
  const { body } = await caller().json('GET', `/runs/${runId}/cell?step=wait`);
  expect(body.attempts).toHaveLength(1);
  await caller().json('POST', `/runs/${runId}:cancel`, {});
  await until(async () => (await caller().status(runId)) === 'canceled', 'the run to be canceled');
});
