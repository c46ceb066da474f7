import { type ContainerService, ServiceError, type ServiceErrorCode } from '@sluice/client';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { findRunContainers } from '../../src/watch/find-run-containers.ts';
import { planOf } from '../data/temporary-world.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const CELLS = 40;
const plan = createHandPlan([
  createStep('cell', {
    matrix: { axes: { n: Array.from({ length: CELLS }, (_, cell) => cell) }, include: [], exclude: [] },
    retry: { ...createStep('a').retry, limit: 2 },
  }),
]);

/** The error for a call, by the number of calls so far, this one included. */
type Fault = (calls: number) => ServiceError | undefined;

/** A finished run on a service whose list fails, so that every possible ID is queried; `fault` answers single queries. */
async function search(rig: Rig, faults: { readonly get?: Fault; readonly list?: Fault }) {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const { runId } = started.value;
  await rig.go(started.value.finished);
  const { service, scope, clock } = rig.options;
  let queries = 0;
  let lists = 0;
  const behind: ContainerService = {
    ...service,
    containers: {
      ...service.containers,
      get(ref) {
        const error = faults.get?.(++queries);
        return error === undefined ? service.containers.get(ref) : Promise.reject(error);
      },
      async *list(...args) {
        const error = faults.list?.(++lists);
        if (error !== undefined) throw error;
        yield* service.containers.list(...args);
      },
    },
  };
  const begin = rig.clock.now();
  const found = await rig.go(
    findRunContainers(behind, { scope, runId, plan, clock: clock! }).then(
      (containers) => containers.length,
      (error: ServiceError) => error.code,
    ),
  );
  return { found, queries: () => queries, tookMs: rig.clock.now() - begin };
}

function fail(code: ServiceErrorCode, options: { retryAfterMs?: number; isForeign?: boolean } = {}): ServiceError {
  return new ServiceError(code, code, options);
}

test.each([
  fail('RESOURCE_EXHAUSTED'),
  fail('RESOURCE_EXHAUSTED', { retryAfterMs: 20_000 }),
  fail('UNAVAILABLE'),
  fail('UNREACHABLE'),
  fail('NO_REPLY'),
  fail('INVALID_REPLY'),
  fail('NOT_FOUND', { isForeign: true }),
])('a query of over a hundred is repeated after $code (isForeign: $isForeign)', async (error) => {
  const rig = createRig('search', { dialect: { list: 500 } });
  const { found, tookMs } = await search(rig, { get: (calls) => (calls === 70 ? error : undefined) });
  expect(found).toBe(CELLS);
  expect(tookMs).toBeGreaterThanOrEqual(error.retryAfterMs ?? 500);
});

test('a list that is throttled is requested again', async () => {
  const rig = createRig('list');
  const { found } = await search(rig, { list: (calls) => (calls === 1 ? fail('RESOURCE_EXHAUSTED') : undefined) });
  expect(found).toBe(CELLS);
});

test.each([
  ['at once if the service rejects it', fail('PERMISSION_DENIED'), [0, 1000]],
  ['at once if the service asks for a longer wait', fail('RESOURCE_EXHAUSTED', { retryAfterMs: 3_600_000 }), [0, 1000]],
  ['after failures for a minute', fail('UNAVAILABLE'), [30_000, 60_000]],
] as const)('a search is given up %s, and sends no further queries', async (_, error, [atLeastMs, atMostMs]) => {
  const rig = createRig('given up', { dialect: { list: 500 } });
  const { found, queries, tookMs } = await search(rig, { get: (calls) => (calls > 70 ? error : undefined) });
  expect(found).toBe(error.code);
  expect(tookMs).toBeGreaterThanOrEqual(atLeastMs);
  expect(tookMs).toBeLessThanOrEqual(atMostMs);
  const before = queries();
  await rig.go(rig.clock.delay(600_000));
  expect(queries()).toBe(before);
});

test('a search that is given up sends none of the queries that are left', async () => {
  const rig = createRig('left', { dialect: { list: 500 } });
  const { found, queries } = await search(rig, {
    get: (calls) => (calls === 40 ? fail('PERMISSION_DENIED') : calls > 40 ? fail('UNAVAILABLE') : undefined),
  });
  expect(found).toBe('PERMISSION_DENIED');
  await rig.go(rig.clock.delay(600_000));
  expect(queries()).toBeLessThan(80);
});

test.each(['foreach: "${{ steps.list.results.items }}"', 'each: item'])(
  'without a list, a search does not say that there is nothing else of a run with `%s`',
  async (cells) => {
    const rig = createRig('unknown cells', { dialect: { list: 500 } });
    const { scope, clock, service } = rig.options;
    const plan = planOf(`
axes: { item: "\${{ steps.list.results.items }}" }
steps:
  list: { command: [list], results: { items: array } }
  work: { ${cells}, command: [work] }
`);
    const found = findRunContainers(service, { scope, runId: 'unknown', plan, clock: clock! });
    expect(await rig.go(found.catch((error: ServiceError) => error.code))).toBe('UNAVAILABLE');
  },
);
