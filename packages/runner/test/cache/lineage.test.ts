import { explainStep } from '@sluice/home';
import type { RunReport } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { createReuseWorld, type GivenRun, type ReuseWorld, statesOf } from './reuse-world.ts';

const RELEASE = `params: { n: 1 }
steps:
  build: { command: [build, "\${{ params.n }}"], outputs: { o: /o } }
  check: { command: [check], inputs: { i: build.o } }
  ask: { approval: true, needs: [check] }
  push: { command: [push], needs: [ask] }`;

const DATABASE = (cache = '') => `params: { n: 1 }
steps:
  load: { command: [load, "\${{ params.n }}"]${cache} }
  database: { command: [serve], service: true, needs: [load], ports: { sql: {} } }
  query: { command: [query, "\${{ steps.database.ports.sql.url }}"], needs: [database], outputs: { o: /o }${cache} }`;

const SKIPPED = (cache = '') => `params: { n: 1, migrates: false }
steps:
  load: { command: [load, "\${{ params.n }}"]${cache} }
  migrate: { command: [migrate], needs: [load], when: "\${{ params.migrates }}", outputs: { o: /o } }
  query: { command: [query], needs: { migrate: completed }${cache} }
  list: { command: [list], inputs: { i: { from: migrate.o, optional: true } }${cache} }`;

/** Starts a run that reuses the earlier one, and compares what it does with what was predicted. */
async function repeat(world: ReuseWorld, earlier: RunReport, run: GivenRun, from: string[] = []): Promise<RunReport> {
  const again = { ...run, reuse: { runId: earlier.runId, from } };
  const predicted = await world.preview(again);
  const report = await world.start(again);
  const reused = report.steps.map(({ step: name, cells }) => [name, cells.filter((cell) => cell.reused).length]);
  expect(predicted.map((one) => [one.step, one.reused])).toEqual(reused);
  return report;
}

describe('createLineage', () => {
  test('passes a rerun on through an approval', async () => {
    const world = createReuseWorld('approval');
    const first = await world.start({ body: RELEASE });
    const changed = await repeat(world, first, { body: RELEASE, params: { n: 2 } });
    const ran = 'succeeded';
    expect(statesOf(changed)).toEqual({ build: ran, check: ran, ask: ran, push: ran });
    const same = await repeat(world, changed, { body: RELEASE, params: { n: 2 } });
    expect(statesOf(same)).toEqual({ build: 'reused', check: 'reused', ask: ran, push: 'reused' });
    const forced = await repeat(world, same, { body: RELEASE, params: { n: 2 } }, ['check']);
    expect(statesOf(forced)).toEqual({ build: 'reused', check: ran, ask: ran, push: ran });
  });

  test('passes a rerun on through a service', async () => {
    const world = createReuseWorld('service');
    const first = await world.start({ body: DATABASE() });
    const same = await repeat(world, first, { body: DATABASE() });
    expect(statesOf(same)).toMatchObject({ load: 'reused', query: 'reused' });
    const changed = await repeat(world, same, { body: DATABASE(), params: { n: 2 } });
    expect(statesOf(changed)).toMatchObject({ load: 'succeeded', query: 'succeeded' });
  });

  test('passes a rerun on through a service that only reads a value', async () => {
    const body = `steps:
  list: { command: [list], results: { r: array } }
  database: { command: [serve, "\${{ steps.list.results.r }}"], service: true }
  query: { command: [query], needs: [database], outputs: { o: /o } }`;
    const world = createReuseWorld('value of a service', { list: '[1, 2]' });
    const first = await world.start({ body });
    expect(statesOf(await repeat(world, first, { body }))).toMatchObject({ list: 'reused', query: 'reused' });
    const forced = await repeat(world, first, { body }, ['list']);
    expect(statesOf(forced)).toMatchObject({ list: 'succeeded', query: 'succeeded' });
  });

  test('passes the change of a service on', async () => {
    const world = createReuseWorld('changed service');
    const first = await world.start({ body: DATABASE() });
    const changed = await repeat(world, first, { body: DATABASE().replace('[serve]', '[serve, --fast]') });
    expect(statesOf(changed)).toMatchObject({ load: 'reused', query: 'succeeded' });
  });

  test('does not reuse what needs a service that is skipped', async () => {
    const body = `params: { serves: true }
steps:
  database: { command: [serve], service: true, when: "\${{ params.serves }}" }
  query: { command: [query], needs: [database], cache: true }`;
    const world = createReuseWorld('skipped service');
    const first = await world.start({ body });
    expect(statesOf(await repeat(world, first, { body }))).toMatchObject({ query: 'reused' });
    const params = { serves: false };
    expect(statesOf(await world.start({ body, params }))).toEqual({ database: 'skipped', query: 'skipped' });
  });

  test('passes a rerun on through a step that is skipped', async () => {
    const world = createReuseWorld('skipped');
    const first = await world.start({ body: SKIPPED() });
    const same = await repeat(world, first, { body: SKIPPED() });
    expect(statesOf(same)).toEqual({ load: 'reused', migrate: 'skipped', query: 'reused', list: 'reused' });
    const changed = await repeat(world, same, { body: SKIPPED(), params: { n: 2 } });
    const ran = 'succeeded';
    expect(statesOf(changed)).toEqual({ load: ran, migrate: 'skipped', query: ran, list: ran });
  });

  test('passes a rerun on through a foreach over an empty list', async () => {
    const body = `params: { n: 1 }
steps:
  load: { command: [load, "\${{ params.n }}"] }
  each: { command: [each], foreach: [], needs: [load] }
  query: { command: [query], needs: [each] }`;
    const world = createReuseWorld('empty');
    const first = await world.start({ body });
    expect(statesOf(await repeat(world, first, { body }))).toMatchObject({ load: 'reused', query: 'reused' });
    const changed = await repeat(world, first, { body, params: { n: 2 } });
    expect(statesOf(changed)).toMatchObject({ load: 'succeeded', query: 'succeeded' });
  });

  test('never lets a step of finally be reused', async () => {
    const body = `steps: { a: { command: [a] } }
finally: { tidy: { command: [tidy], cache: true } }`;
    const world = createReuseWorld('finally');
    const first = await world.start({ body });
    expect(statesOf(await world.start({ body }))).toEqual({ a: 'succeeded', tidy: 'succeeded' });
    expect(statesOf(await repeat(world, first, { body }))).toEqual({ a: 'reused', tidy: 'succeeded' });
  });

  test('names in an explanation the step that was rerun', async () => {
    const world = createReuseWorld('explained');
    const first = await world.start({ body: RELEASE });
    const { runId } = await repeat(world, first, { body: RELEASE, params: { n: 2 } });
    const explain = async (step: string) => {
      const explained = await explainStep({ home: '/home', runId, step, disk: world.rig.disk });
      return explained.ok ? explained.value.cache : explained.error;
    };
    expect(await explain('build')).toMatchObject({ cause: 'unknown' });
    expect(await explain('push')).toMatchObject({ cause: 'rerun', after: 'check' });
  });
});

describe('a fingerprint', () => {
  const CACHED = ', cache: true';

  test.each([
    { what: 'a service', body: DATABASE(CACHED) },
    { what: 'a skipped step', body: SKIPPED(CACHED) },
  ])('contains what came before a step through $what', async ({ body }) => {
    const world = createReuseWorld('cache');
    await world.start({ body });
    const same = statesOf(await world.start({ body }));
    expect(same).toMatchObject({ load: 'reused', query: 'reused' });
    const changed = statesOf(await world.start({ body, params: { n: 2 } }));
    expect(changed).toMatchObject({ load: 'succeeded', query: 'succeeded' });
    expect(statesOf(await world.start({ body, params: { n: 2 } }))).toEqual(same);
    expect(statesOf(await world.start({ body }))).toEqual(same);
  });

  test('contains what came before a step through an approval', async () => {
    const body = RELEASE.replace(/ }$/gm, ', cache: true }').replace(
      'true, needs: [check], cache: true',
      'true, needs: [check]',
    );
    const world = createReuseWorld('cached approval');
    await world.start({ body });
    const ran = 'succeeded';
    expect(statesOf(await world.start({ body }))).toMatchObject({ check: 'reused', ask: ran, push: 'reused' });
    const params = { n: 2 };
    expect(statesOf(await world.start({ body, params }))).toMatchObject({ build: ran, check: ran, push: ran });
  });

  test('contains the steps in needs, and a step without cache counts as changed in each run', async () => {
    const body = `steps:
  load: { command: [load] }
  query: { command: [query], needs: [load], cache: true }`;
    const world = createReuseWorld('order');
    await world.start({ body });
    expect(statesOf(await world.start({ body }))).toEqual({ load: 'succeeded', query: 'succeeded' });
  });

  test('contains a step of which only results are read by their values', async () => {
    const body = `steps:
  list: { command: [list], results: { r: array } }
  each: { command: [each, "\${{ item }}"], foreach: "\${{ steps.list.results.r }}", cache: true }`;
    const values = { list: '["a", "b"]' };
    const world = createReuseWorld('values', values);
    await world.start({ body });
    expect(statesOf(await world.start({ body }))).toEqual({ list: 'succeeded', each: 'reused reused' });
    values.list = '["b", "c"]';
    expect(statesOf(await world.start({ body }))).toEqual({ list: 'succeeded', each: 'reused succeeded' });
  });

  test('contains a step of which the end is read', async () => {
    const body = `steps:
  load: { command: [load], results: { r: string } }
  query: { command: [query], when: "\${{ steps.load.status == 'succeeded' }}", cache: true }
  show: { command: [show, "\${{ steps.load.results.r }}"], cache: true }`;
    const world = createReuseWorld('end');
    await world.start({ body });
    expect(statesOf(await world.start({ body }))).toEqual({ load: 'succeeded', query: 'succeeded', show: 'reused' });
  });

  test('differs for each run behind a service that writes to a shared volume', async () => {
    const body = `volumes: { state: {} }
steps:
  database: { command: [serve], service: true, inputs: { state: { from: volumes.state, writable: true } } }
  query: { command: [query], needs: [database], cache: true }`;
    const world = createReuseWorld('writing service');
    const first = await world.start({ body });
    expect(statesOf(await world.start({ body })).query).toBe('succeeded');
    expect(statesOf(await repeat(world, first, { body })).query).toBe('succeeded');
  });
});

test('createLookup reuses a step that reads a shared volume only if its cache ignores the input', async () => {
  const body = (cache = '') => `volumes: { state: {} }
steps:
  read: { command: [read], inputs: { state: volumes.state }${cache} }
  after: { command: [after], needs: [read] }`;
  const world = createReuseWorld('shared');
  const first = await world.start({ body: body() });
  const ran = { read: 'succeeded', after: 'succeeded' };
  expect(statesOf(await repeat(world, first, { body: body() }))).toEqual(ran);
  const ignores = { body: body(', cache: { ignore: [state] }') };
  const second = await world.start(ignores);
  expect(statesOf(second)).toEqual(ran);
  expect(statesOf(await world.start(ignores))).toEqual({ read: 'reused', after: 'succeeded' });
  expect(statesOf(await repeat(world, second, ignores))).toEqual({ read: 'reused', after: 'reused' });
});
