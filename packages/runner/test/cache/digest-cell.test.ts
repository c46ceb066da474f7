import { readRunFiles } from '@sluice/home';
import type { RunReport } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { createReuseWorld, type GivenRun, statesOf } from './reuse-world.ts';

const HOUR = 3_600_000;

const createWorld = (values: Record<string, string> = {}) => {
  const world = createReuseWorld('digests', values);
  const run = (body: string, more: Omit<GivenRun, 'body'> = {}) => world.start({ body, ...more });
  return { ...world, run };
};

const states = statesOf;
const resultOf = ({ steps }: RunReport, name: string) => steps.find((step) => step.step === name)!.cells[0]!.results.r;

describe('digestCell', () => {
  test('tells a failed cached step from one that succeeded, so that nothing made of its failure is reused', async () => {
    const { behave, run } = createWorld();
    const body = `steps:
  a: { command: [a], outputs: { o: /o }, cache: true, continueOnError: true }
  b: { command: [b], inputs: { i: { from: a.o, optional: true } }, cache: true }`;
    behave.a = { end: 'Failed' };
    expect(states(await run(body))).toEqual({ a: 'failed', b: 'succeeded' });
    expect(states(await run(body))).toEqual({ a: 'failed', b: 'succeeded' });
    behave.a = {};
    expect(states(await run(body))).toEqual({ a: 'succeeded', b: 'succeeded' });
    expect(states(await run(body))).toEqual({ a: 'reused', b: 'reused' });
  });

  test('tells a fan-in with a failed cell from one without', async () => {
    const { behave, run } = createWorld();
    const body = `steps:
  a: { command: [a, "\${{ matrix.x }}"], matrix: { x: [1, 2] }, outputs: { o: /o }, cache: true, continueOnError: true }
  b: { command: [b], inputs: { i: a.o }, cache: true }`;
    behave.a = { endOf: ({ labels = {} }) => (labels['sluice-cell'] === 'x-2' ? 'Failed' : 'Succeeded') };
    expect(states(await run(body))).toEqual({ a: 'succeeded failed', b: 'succeeded' });
    behave.a = {};
    expect(states(await run(body))).toEqual({ a: 'reused succeeded', b: 'succeeded' });
    expect(states(await run(body))).toEqual({ a: 'reused reused', b: 'reused' });
  });

  test('is the same for a step that was skipped in every run', async () => {
    const { run } = createWorld();
    const body = `params: { go: false }
steps:
  a: { command: [a], outputs: { o: /o }, when: "\${{ params.go }}" }
  b: { command: [b], inputs: { i: { from: a.o, optional: true } }, outputs: { o: /o }, cache: true }
  c: { command: [c], inputs: { i: b.o }, cache: true, outputs: { o: /o } }`;
    await run(body);
    expect(states(await run(body))).toEqual({ a: 'skipped', b: 'reused', c: 'reused' });
    expect(states(await run(body, { params: { go: 'true' } }))).toEqual({
      a: 'succeeded',
      b: 'succeeded',
      c: 'succeeded',
    });
    expect(states(await run(body))).toEqual({ a: 'skipped', b: 'reused', c: 'reused' });
  });

  test('changes when a step is rerun because the last success is too old', async () => {
    const { rig, run } = createWorld();
    const body = `steps:
  a: { command: [a], outputs: { o: /o }, cache: { maxAge: 1h } }
  b: { command: [b], inputs: { i: a.o }, cache: true }`;
    await run(body);
    expect(states(await run(body))).toEqual({ a: 'reused', b: 'reused' });
    await rig.go(rig.clock.delay(2 * HOUR));
    expect(states(await run(body))).toEqual({ a: 'succeeded', b: 'succeeded' });
    expect(states(await run(body))).toEqual({ a: 'reused', b: 'reused' });
  });
});

describe('countReplicates', () => {
  test('lets each of several equal cells keep its own work', async () => {
    const { run } = createWorld();
    const body = `steps:
  a: { command: [a], foreach: [0, 0, 0], outputs: { o: /o }, cache: true }
  b: { command: [b], inputs: { i: a.o }, cache: true }`;
    await run(body);
    const again = await run(body);
    expect(states(again)).toEqual({ a: 'reused reused reused', b: 'reused' });
    const [a] = again.steps;
    expect(new Set(again.steps[0]!.cells.map(({ cell }) => cell)).size).toBe(3);
    expect(a!.cells.map((one) => one.reusedFrom)).toHaveLength(3);
    // A dependent that runs mounts all three.
    expect(states(await run(body.replace('[b]', '[b, more]')))).toEqual({ a: 'reused reused reused', b: 'succeeded' });
  });

  test('lets equal cells of a matrix keep their own work, also those that are added', async () => {
    const { run } = createWorld();
    const body = (x: string) => `steps:
  a: { command: [a], matrix: { x: ${x} }, outputs: { o: /o }, cache: true }
  b: { command: [b], inputs: { i: a.o } }`;
    await run(body('[1]'));
    expect(states(await run(body('[1, 1]')))).toEqual({ a: 'reused succeeded', b: 'succeeded' });
    expect(states(await run(body('[1, 2, 1]')))).toEqual({ a: 'reused succeeded reused', b: 'succeeded' });
  });
});

describe('cache.key', () => {
  test('belongs to its step: others with the same key keep their own work', async () => {
    const { run } = createWorld({ a: 'of a', b: 'of b' });
    const body = `steps:
  a: { command: [a], results: { r: string }, cache: { key: same } }
  b: { command: [b], results: { r: string }, cache: { key: same }, needs: [a] }`;
    const first = await run(body);
    expect([resultOf(first, 'a'), resultOf(first, 'b')]).toEqual(['of a', 'of b']);
    const second = await run(body);
    expect(states(second)).toEqual({ a: 'reused', b: 'reused' });
    expect([resultOf(second, 'a'), resultOf(second, 'b')]).toEqual(['of a', 'of b']);
  });

  test('belongs to its pipeline', async () => {
    const { run } = createWorld();
    const body = 'steps: { a: { command: [a], results: { r: string }, cache: { key: same } } }';
    await run(body);
    expect(states(await run(body, { name: 'other' }))).toEqual({ a: 'succeeded' });
  });

  test.each([
    { what: 'the matrix', step: 'matrix: { x: [1, 2] }', key: 'matrix.x', hits: 'reused reused' },
    { what: 'the item', step: 'foreach: [a, b]', key: 'item', hits: 'reused reused' },
    { what: 'a variable', step: 'env: { A: "${{ params.n }}" }', key: 'env.A', hits: 'reused' },
    { what: 'a mount point', step: 'outputs: { o: /o }', key: 'outputs.o.path', hits: 'reused' },
  ])('may read $what', async ({ step, key, hits }) => {
    const { run } = createWorld();
    const body = `params: { n: 1 }
steps: { a: { command: [a], ${step}, cache: { key: "\${{ ${key} }}" } } }`;
    await run(body);
    expect(states(await run(body))).toEqual({ a: hits });
    const changed = await run(body, { params: { n: 2 } });
    expect(states(changed)).toEqual({ a: key === 'env.A' ? 'succeeded' : hits });
  });

  test('warns once if it cannot be evaluated', async () => {
    const { run } = createWorld();
    const { warnings } = await run(`params: { n: 0 }
steps: { a: { command: [a], matrix: { x: [1, 2] }, cache: { key: "\${{ 1 / params.n }}" } } }`);
    expect(warnings?.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^could not look up step a in the cache: .*; correct its cache.key$/),
    ]);
  });
});

test('a miss is compared with the newest success that could have been reused, and not with one elsewhere', async () => {
  const { rig, run } = createWorld();
  const body = (word: string) => `steps: { a: { command: [a, ${word}], outputs: { o: /o }, cache: true } }`;
  const first = await run(body('one'));
  const file = '/home/cache.ndjson';
  const [line = ''] = Buffer.from(rig.disk.files.get(file)!).toString().split('\n');
  const elsewhere = { ...JSON.parse(line), runId: 'aaaaaaaaaaaaa', volumeID: 'elsewhere', clusterID: 'elsewhere' };
  await rig.disk.extend(file, Buffer.from(`${JSON.stringify(elsewhere)}\n`));
  const second = await run(body('two'));
  const files = await readRunFiles(rig.disk, '/home', second.runId);
  const missed = files.ok
    ? files.value.records.flatMap((one) => (one.kind === 'event' && one.facts?.missed) || [])
    : [];
  expect(missed.map(({ latest }) => latest)).toEqual([first.runId]);
});
