import { type ContainerService, ServiceError } from '@sluice/client';
import { decodeLine } from '@sluice/home';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig, type RigOptions } from '../simulation/rig.ts';

const retry = { ...createStep('a').retry, infrastructure: 1 };
const plan = createHandPlan([createStep('a', { retry })]);

type Failing = (call: 'create' | 'get' | 'list') => ServiceError | undefined;

/** The rig's service behind something that fails some of the calls. */
function behind(rig: Rig, failing: Failing): ContainerService {
  const { service } = rig.options;
  const { containers } = service;
  const pass = <T>(call: 'create' | 'get', act: () => Promise<T>): Promise<T> => {
    const error = failing(call);
    return error ? Promise.reject(error) : act();
  };
  return {
    ...service,
    containers: {
      ...containers,
      create: (scope, spec, more) => pass('create', () => containers.create(scope, spec, more)),
      get: (ref) => pass('get', () => containers.get(ref)),
      async *list(scope, more) {
        const error = failing('list');
        if (error) throw error;
        yield* containers.list(scope, more);
      },
    },
  };
}

const page = (status: 403 | 404) =>
  new ServiceError(status === 403 ? 'PERMISSION_DENIED' : 'NOT_FOUND', `replied ${status} nginx`, {
    status,
    isForeign: true,
  });

async function run(rig: Rig, failing: Failing) {
  const service = behind(rig, failing);
  const started = await rig.go(startRun({ ...rig.options, service, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  return rig.go(started.value.finished);
}

test.each([403, 404] as const)('a page with %i in place of one reply to a create fails nothing', async (status) => {
  const rig = createRig('page');
  let creates = 0;
  const report = await run(rig, (call) => (call === 'create' && ++creates === 1 ? page(status) : undefined));
  expect(report.status).toBe('succeeded');
  expect(rig.created().map(({ wire }) => wire.labels!['sluice-attempt'])).toEqual(['1']);
});

test('a gateway that answers everything with a page for an hour starts nothing twice and fails nothing', async () => {
  const rig = createRig('pages', { behave: { a: { runMs: 7_200_000 } } });
  const begun = rig.clock.now();
  let isPosted = false;
  const service = behind(rig, () => (isPosted && rig.clock.now() - begun < 3_600_000 ? page(404) : undefined));
  const { create } = service.containers;
  // The first create is carried out, and a page takes the place of its reply.
  service.containers.create = async (scope, spec, more) => {
    await create(scope, spec, more);
    isPosted = true;
    throw page(403);
  };
  const started = await rig.go(startRun({ ...rig.options, service, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const report = await rig.go(started.value.finished);
  expect(report.status).toBe('succeeded');
  expect(rig.created()).toHaveLength(1);
});

test('a gateway that answers everything with a page while a container runs does not make it lost', async () => {
  const rig = createRig('running', { behave: { a: { runMs: 7_200_000 } } });
  const begun = rig.clock.now();
  const isDown = () => rig.clock.now() - begun > 10_000 && rig.clock.now() - begun < 3_600_000;
  const report = await run(rig, () => (isDown() ? page(404) : undefined));
  expect(report.status).toBe('succeeded');
  expect(rig.created()).toHaveLength(1);
});

test('a page in place of each reply to a create is an infrastructure failure in the end, and tried again', async () => {
  const rig = createRig('rejects');
  const report = await run(rig, (call) => (call === 'create' ? page(403) : undefined));
  expect(report.status).toBe('failed');
  expect(report.failures.map(({ reason, message }) => ({ reason, message }))).toEqual(
    [1, 2].map(() => ({ reason: 'infrastructure', message: expect.stringMatching(/kept rejecting .* 403 nginx/) })),
  );
  expect(rig.clock.now()).toBeGreaterThan(600_000);
});

test('a late create request to which a gateway replied is waited for as long as the first one', async () => {
  // Nothing is visible for 200 seconds, and the limit has passed since the first page 60 seconds after the create.
  const rig = createRig('late page', { dialect: { readLagMs: 200_000 } });
  const begun = rig.clock.now();
  const service = behind(rig, (call) => {
    return call === 'create' && rig.clock.now() - begun < 240_000 ? page(403) : undefined;
  });
  const { create } = service.containers;
  service.containers.create = async (...given) => {
    await create(...given);
    throw page(404);
  };
  const started = await rig.go(startRun({ ...rig.options, service, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const report = await rig.go(started.value.finished);
  expect(report.status).toBe('succeeded');
  expect(rig.created().map(({ wire }) => wire.labels!['sluice-attempt'])).toEqual(['1']);
});

test('a rejection of the service itself fails the step after one question', async () => {
  const rig = createRig('rejected');
  let [creates, gets] = [0, 0];
  const report = await run(rig, (call) => {
    if (call === 'get') gets++;
    if (call !== 'create') return undefined;
    creates++;
    return new ServiceError('INVALID_ARGUMENT', 'there is no such image', { status: 400 });
  });
  expect(report.failures).toMatchObject([
    { reason: 'failed', message: 'the service rejected the container: there is no such image' },
  ]);
  expect({ creates, gets }).toEqual({ creates: 1, gets: 1 });
});

/** Takes the intent at the end of the journal away, as a disk that loses what it had confirmed. */
function loseIntent(rig: Rig): void {
  const path = [...rig.disk.files.keys()].find((file) => file.endsWith('/journal.ndjson'))!;
  const bytes = rig.disk.files.get(path)!;
  const start = bytes.lastIndexOf(10, bytes.length - 2) + 1;
  expect(decodeLine(bytes.subarray(start, bytes.length - 1))?.record.kind).toBe('intent');
  rig.disk.files.set(path, bytes.slice(0, start));
}

test.each<RigOptions>([
  { dialect: { conflict: 400 } },
  { dialect: { conflict: 400, readLagMs: 200_000 } },
  { dialect: { conflict: 409 } },
  { dialect: { conflict: 'echo' } },
])('a container whose intent is missing from the journal is found again: %j', async (given) => {
  const rig = createRig('torn', { ...given, behave: { a: { runMs: 400_000 } } });
  const process = rig.process();
  const { clock, disk, service } = process;
  const started = await rig.go(startRun({ ...rig.options, clock, disk, service, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.created().length === 1);
  process.kill();
  loseIntent(rig);
  const resumed = await rig.go(resumeRun({ ...rig.options, runId: started.value.runId }));
  if (!resumed.ok) throw new Error(resumed.error.message);
  const report = await rig.go(resumed.value.finished);
  expect(report.failures).toEqual([]);
  expect(report.status).toBe('succeeded');
  expect(rig.created()).toHaveLength(1);
});
