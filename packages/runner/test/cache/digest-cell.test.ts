import { createPlan, parsePipeline } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { describeStatus } from '../../src/report/describe-status.ts';
import { readRunFiles } from '../../src/report/read-run.ts';
import type { RunReport } from '../../src/report/run-report.ts';
import { startRun } from '../../src/run/start-run.ts';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig } from '../simulation/rig.ts';
import type { Behaviour } from '../simulation/simulated-service.ts';

const HOUR = 3_600_000;

/** Writes the results of every step; `values` are looked at when a container ends. */
function createWorld(values: Record<string, string> = {}) {
  const behave: Record<string, Partial<Behaviour>> = {};
  const rig: Rig = createRig('digests', { behave });
  for (const step of ['a', 'b', 'c', 'd']) {
    behave[step] = {
      work({ volumeMounts = {} }) {
        const key = Object.keys(volumeMounts).find((one) => volumeMounts[one] === '/sluice/results');
        const [volume = '', place = ''] = key?.split(':') ?? [];
        if (key) writeFile(rig.simulated.volumes.get(volume)!, `${place}/r`, Buffer.from(values[step] ?? step));
      },
    };
  }
  async function run(body: string, { name = 'digests', params = {} }: { name?: string; params?: object } = {}) {
    const parsed = parsePipeline({ file: 'p.yaml', text: `version: 1\nname: ${name}\nfailFast: false\n${body}` });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    const plan = createPlan(parsed.value.pipeline, { params: params as Record<string, string> });
    if (!plan.ok) throw new Error(JSON.stringify(plan.error));
    const started = await rig.go(startRun({ ...rig.options, plan: plan.value, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    return rig.go(started.value.finished);
  }
  return { rig, behave, run };
}

const states = ({ steps }: RunReport) =>
  Object.fromEntries(steps.map(({ name, cells }) => [name, cells.map(describeStatus).join(' ')]));
const resultOf = ({ steps }: RunReport, name: string) => steps.find((step) => step.name === name)!.cells[0]!.results.r;

describe('digestCell', () => {
  test('tells a failed cached step from one that succeeded, so that nothing made of its failure is reused', async () => {
    const { behave, run } = createWorld();
    const body = `steps:
  a: { command: [a], outputs: { o: /o }, cache: true, continueOnError: true }
  b: { command: [b], inputs: { i: a.o }, cache: true }`;
    const { work } = behave.a!;
    behave.a = { end: 'Failed' };
    expect(states(await run(body))).toEqual({ a: 'failed', b: 'succeeded' });
    expect(states(await run(body))).toEqual({ a: 'failed', b: 'succeeded' });
    behave.a = { ...(work && { work }) };
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
  b: { command: [b], inputs: { i: a.o }, cache: true }
  c: { command: [c], inputs: { i: b.o }, cache: true, outputs: { o: /o } }`.replace(
      'inputs: { i: a.o }, cache',
      'inputs: { i: a.o }, outputs: { o: /o }, cache',
    );
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
