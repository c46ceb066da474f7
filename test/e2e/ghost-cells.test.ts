import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpService } from '@sluice/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, makeSharedDirectory, until, type Workplace } from './workplace-rig.ts';

const PREPARATIONS = 8;
const CLUSTERS = `
  - id: main
    engine: process
    capacity: { cpu: 64, memory: 64GB }
    accounts: [physics]
    instanceTypes: [{ id: small, cpu: 1, memory: 1GB }]`;

let place: Workplace;
let server: Server;
let shared: string;

beforeEach(async () => {
  place = createWorkplace();
  shared = makeSharedDirectory();
  writeFileSync(join(shared, 'fault'), '');
  server = await serveNew(place, { clusters: CLUSTERS });
});
afterEach(async () => {
  await server.kill();
  place.remove();
  rmSync(shared, { recursive: true });
});

/**
 * The preparations and the failing check end together, so that one poll finds their ends: the lists of `each-N` are due in
 * the turn in which the run begins to stop. Right behind each of these steps are two that have succeeded.
 */
function writePipeline(): void {
  const wait = `until [ -e '${shared}/gate' ]; do sleep 0.02; done`;
  const steps: Record<string, object> = {
    list: { script: `echo '["a", "b", "c"]' > /sluice/results/names`, results: { names: 'array' } },
  };
  for (let index = 0; index < PREPARATIONS; index++) {
    const prepare = `prepare-${index}`;
    steps[prepare] = { script: wait, needs: ['list'] };
    const foreach = '$' + '{{ steps.list.results.names }}';
    steps[`each-${index}`] = { script: 'true', foreach, needs: [prepare] };
    for (const name of ['one', 'two']) steps[`${name}-${index}`] = { script: 'true' };
  }
  steps.check = { script: `${wait}; [ ! -e '${shared}/fault' ]`, needs: ['list'] };
  writeFileSync(join(place.directory, 'p.json'), JSON.stringify({ version: 1, name: 'p', steps }));
}

/** The cells that a run counts as succeeded and has not reused, with the phase of each one's container on the server. */
async function listSuccesses(runId: string): Promise<ReadonlyMap<string, string | undefined>> {
  const login = { email: CREDENTIALS.SLUICE_EMAIL, password: CREDENTIALS.SLUICE_PASSWORD };
  const service = createHttpService({ baseUrl: server.url, login });
  const phases = new Map<string, string | undefined>();
  for await (const { id, phase } of service.containers.list(
    { clusterID: 'main', accountID: 'physics' },
    { all: true },
  )) {
    phases.set(id, phase);
  }
  await service.close();
  const { steps } = await place.show(runId);
  const successes = steps.flatMap(({ step: name, cells }) =>
    cells.flatMap(({ cell, status, containerId, reusedFrom }) =>
      status === 'succeeded' && reusedFrom === undefined
        ? [[`${name}/${cell}`, phases.get(containerId ?? '')] as const]
        : [],
    ),
  );
  return new Map(successes);
}

test('every cell that is recorded as succeeded has run, also if its list is decided while the run stops', async () => {
  writePipeline();
  const env = CREDENTIALS;
  const run = place.start(['run', '--here', 'p.json', '--json', '--service', server.url], { env });
  const running = /"step":"(?:prepare-\d|check)",.*"status":"running"/g;
  await until(() => (run.stdout().match(running)?.length ?? 0) === PREPARATIONS + 1, 'the preparations to run');
  writeFileSync(join(shared, 'gate'), '');
  expect(await run.ended).toMatchObject({ exitCode: 1 });
  const [first] = await place.runs();
  const before = await listSuccesses(first!.runId);
  expect([...before].filter(([, phase]) => phase !== 'Succeeded')).toEqual([]);

  rmSync(join(shared, 'fault'));
  const rerun = await place.start(['rerun', '--service', server.url], { env }).ended;
  expect(rerun).toMatchObject({ exitCode: 0 });
  const second = (await place.runs()).find(({ runId }) => runId !== first!.runId)!;
  const after = await listSuccesses(second.runId);
  expect([...after].filter(([, phase]) => phase !== 'Succeeded')).toEqual([]);
  const executed = new Set([...before.keys(), ...after.keys()].filter((name) => name.startsWith('each-')));
  expect(executed.size).toBe(3 * PREPARATIONS);
});
