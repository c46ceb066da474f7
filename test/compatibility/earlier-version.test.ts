import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHttpService } from '@sluice/client';
import type { RunReportValue } from '@sluice/runner';
import { createService, EMBEDDED_SCOPE, embeddedConfig, systemClock } from '@sluice/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { administer, CREDENTIALS, serve } from '../e2e/served-rig.ts';
import { createWorkplace, type Workplace } from '../e2e/workplace-rig.ts';
import { renameReport } from './rename-report.ts';

const SAMPLES = fileURLToPath(new URL('testdata', import.meta.url));
const SUCCEEDED = 'rqymhf3qliqmc';
const FAILED = 'uhkzllm2rtelg';
const SUSPENDED = '6r56k3bd4llf4';
/** When the samples were made. Later than the retention time after it, a service deletes the containers. */
const MADE_AT = Date.parse('2026-11-22T19:00:00Z');

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
  cpSync(SAMPLES, place.directory, { recursive: true });
  cpSync(join(SAMPLES, 'home'), place.home, { recursive: true });
});

afterEach(() => place.remove());

async function succeed(...args: string[]): Promise<string> {
  const ended = await place.sluice(...args);
  expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
  return ended.stdout;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function readReport(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

describe('the journals of an earlier version', () => {
  test('sluice runs lists the runs', async () => {
    const runs = await place.runs();
    expect(runs).toMatchObject([
      { runId: SUSPENDED, pipeline: 'sample', status: 'suspended' },
      { runId: FAILED, pipeline: 'sample', status: 'failed' },
      { runId: SUCCEEDED, pipeline: 'holder', status: 'succeeded' },
    ]);
  });

  test.each([SUCCEEDED, FAILED])(
    'sluice show and sluice report %s say what the report of that version says',
    async (runId) => {
      const old = renameReport(readReport(join(SAMPLES, 'home/runs', runId, 'report.json'))) as RunReportValue;
      const { failures, ...rest } = old;
      await succeed('report', runId, '--out', 'report');
      const report = readReport(join(place.directory, 'report/report.json')) as RunReportValue;
      expect(report).toMatchObject(rest);
      // That version did not list a step that could not be evaluated.
      const ofAttempts = report.failures.filter(({ message }) => !message.includes('cannot be evaluated'));
      expect(ofAttempts).toMatchObject(
        failures.map((failure) => ({ ...failure, ...('logFile' in failure && { logFile: expect.any(String) }) })),
      );
      expect(place.read('report/report.html')).toContain(runId);
      expect({ ...report, type: 'runReport' }).toMatchObject(await place.show(runId));
    },
  );

  test('sluice why explains steps by renamed events and by reuse', async () => {
    expect(await succeed('why', '-r', FAILED, 'chosen')).toContain('index out of bounds, index 5 >= size 2');
    // Its journal has the event `roomFreed`, which ends the waiting time before it is over.
    expect(await succeed('why', '-r', FAILED, 'fit/seed-1')).toContain('last reason: pool');
    expect(await succeed('why', '-r', SUSPENDED, 'fit')).toContain(`reused from run ${FAILED}`);
    expect(await succeed('why', '-r', SUSPENDED, 'release')).toContain('waits for approval');
  });

  test('sluice resume ends a run, whose outputs are those of both versions', async () => {
    await succeed('approve', '-r', SUSPENDED, 'release');
    expect(await succeed('resume', SUSPENDED)).toMatch(/sample succeeded in .*: 8 succeeded, 2 reused/);
    await succeed('pull', '-r', SUSPENDED, 'all', '--to', 'results');
    expect(place.read('results/all/all.txt')).toBe('one 1\none 2\n');
  });

  test('sluice run --reuse reuses unchanged steps of a run', async () => {
    const run = await place.sluice('run', 'pipeline.yaml', '--reuse-from', FAILED, '--stop-at-approval', '--json');
    expect(run).toMatchObject({ exitCode: 75 });
    const [newest] = await place.runs();
    const { steps } = await place.show(newest!.runId);
    const reused = steps.filter(({ reused }) => reused).map(({ name }) => name);
    expect(reused).toEqual(['list', 'fit', 'each', 'retried']);
  });

  test('sluice run names the reason why an entry of the cache no longer counts', async () => {
    expect(await place.sluice('run', 'pipeline.yaml', '--stop-at-approval')).toMatchObject({
      exitCode: 75,
      stderr: '',
    });
    const why = await succeed('why', 'fit/seed-1');
    expect(why).toContain(`compared with run ${FAILED}`);
    expect(why).toContain('the version of fingerprints changed');
  });
});

describe('the stores of an earlier version', () => {
  test('a service lists the containers and volumes of an embedded service, with their logs', async () => {
    const clock = { ...systemClock, now: () => MADE_AT };
    const service = await createService({ config: embeddedConfig({ root: join(place.home, 'service') }), clock });
    try {
      const { containers, volumes } = service.inProcess({ userID: 'test', accounts: [EMBEDDED_SCOPE] });
      const found = await collect(containers.list(EMBEDDED_SCOPE, { all: true }));
      const ended = (runId: string) => found.filter(({ id }) => id?.startsWith(`s${runId}-`)).map(({ phase }) => phase);
      expect(ended(SUCCEEDED)).toEqual(['Succeeded']);
      expect(ended(FAILED).sort()).toEqual(['Failed', ...Array.from({ length: 7 }, () => 'Succeeded')]);
      expect(ended(SUSPENDED).sort()).toEqual(['Failed', ...Array.from({ length: 5 }, () => 'Succeeded')]);
      const ref = { ...EMBEDDED_SCOPE, id: `s${FAILED}-qm5i32oydwdk-1` };
      expect(await containers.get(ref)).toMatchObject({ labels: { 'sluice-step': 'each' }, phase: 'Succeeded' });
      expect(await collect(volumes.list(EMBEDDED_SCOPE))).toMatchObject([{ phase: 'Available' }]);
      const log = await collect(containers.logs(ref));
      expect(Buffer.concat(log).toString()).toBe('hello a\n');
    } finally {
      await service.close();
    }
  });

  test('sluice serve knows the user, the account and the container', async () => {
    expect((await administer(place, 'list')).stdout).toMatch(/a@example\.org +main\/physics/);
    const server = await serve(place);
    const { SLUICE_EMAIL: email, SLUICE_PASSWORD: password } = CREDENTIALS;
    const service = createHttpService({ baseUrl: server.url, login: { email, password } });
    try {
      const scope = { clusterID: 'main', accountID: 'physics' };
      const found = await collect(service.containers.list(scope, { all: true }));
      expect(found).toMatchObject([{ phase: 'Succeeded' }]);
      const ref = { ...scope, id: found[0]!.id! };
      expect(await service.containers.get(ref)).toMatchObject({ labels: { 'sluice-step': 'hold' } });
      const log = await collect(service.containers.logs(ref));
      expect(Buffer.concat(log).toString()).toBe('held\n');
    } finally {
      await service.close();
      await server.kill();
    }
  });
});
