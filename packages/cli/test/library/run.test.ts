import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  approveRun,
  type Connection,
  explainStep,
  listRuns,
  openEmbeddedService,
  parsePipeline,
  pipeline,
  pullOutput,
  readRun,
  reportRun,
  resume,
  run,
  safeRun,
} from '../../src/index.ts';

const home = join(mkdtempSync(join(tmpdir(), 'sluice-library-')), 'home');
let service: Connection;
beforeAll(async () => {
  service = await openEmbeddedService({ home });
});
afterAll(async () => {
  await service.close();
  rmSync(join(home, '..'), { recursive: true, force: true, maxRetries: 10 });
});

function approval() {
  const p = pipeline('approval');
  p.step('ask', { approval: { message: 'Continue?' } });
  return p;
}

describe('run', () => {
  test('has typed results, events from the start, and files that the other functions read', async () => {
    const p = pipeline('sums', { params: { values: [1, 2, 3], factor: 2 } });
    const one = p.step('one', { matrix: { value: p.params.values } }, ({ matrix }) => ({
      script: `expr ${matrix.value} '*' ${p.params.factor} > /sluice/results/product`,
      results: { product: 'integer' },
    }));
    const all = p.step('all', {
      command: ['sh', '-c', 'echo "$0" > /out/products; echo true > /sluice/results/done', one.results.product],
      outputs: { list: '/out' },
      results: { done: 'boolean' },
    });
    p.output('list', all.outputs.list);
    const seen: string[] = [];
    const started = await run(p, { home, service, params: { values: [4, 5] }, onEvent: ({ type }) => seen.push(type) });
    const types: string[] = [];
    for await (const event of started.events) types.push(event.type);
    const result = await started.finished;
    expect(result).toMatchObject({ runId: started.runId, status: 'succeeded' });
    const products: readonly number[] = result.of(one).product;
    const done: boolean = result.of(all).done;
    expect({ products, done }).toEqual({ products: [8, 10], done: true });
    expect(types).toEqual(seen);
    expect([types[0], types.at(-1)]).toEqual(['runStarted', 'runFinished']);

    expect(await listRuns({ home })).toMatchObject([{ runId: started.runId, status: 'succeeded' }]);
    expect(await readRun(started.runId, { home })).toEqual(result.report);
    expect(await explainStep(started.runId, 'all', { home })).toMatchObject({ state: 'succeeded' });
    expect(existsSync((await reportRun(started.runId, { home })).page)).toBe(true);
    const to = join(home, '../list');
    expect(await pullOutput(started.runId, 'list', { home, service, to })).toEqual([]);
    expect(readFileSync(join(to, 'products'), 'utf8')).toBe('[8,10]\n');
  });

  test('a failed step is a status, and its results are an error', async () => {
    const p = pipeline('failing');
    const fit = p.step('fit', { command: ['false'], results: { loss: 'number' } });
    const result = await (await run(p, { home, service })).finished;
    expect(result.status).toBe('failed');
    expect(() => result.of(fit)).toThrow(expect.objectContaining({ code: 'NO_RESULT' }));
    expect(() => result.of({ name: 'other', results: {} })).toThrow(
      expect.objectContaining({ code: 'STEP_NOT_FOUND' }),
    );
  });

  test('a signal cancels the run; one that was aborted before starts nothing', async () => {
    const controller = new AbortController();
    const started = await run(approval(), { home, service, signal: controller.signal });
    controller.abort();
    expect(await started.finished).toMatchObject({ status: 'canceled' });
    const count = (await listRuns({ home })).length;
    await expect(run(approval(), { home, service, signal: controller.signal })).rejects.toMatchObject({
      name: 'SluiceError',
      code: 'ABORTED',
    });
    expect(await listRuns({ home })).toHaveLength(count);
  });

  test('a detached run is resumed, and approved from outside or by its handle', async () => {
    const started = await run(approval(), { home, service });
    await started.detach();
    expect(await started.finished).toMatchObject({ status: 'suspended' });
    const resumed = await resume(started.runId, { home, service });
    for await (const { type } of resumed.events) if (type === 'approvalAsked') break;
    resumed.approve('ask', { by: 'ada' });
    expect(await resumed.finished).toMatchObject({ status: 'succeeded' });
    await expect(approveRun(started.runId, 'ask', { home })).rejects.toMatchObject({ code: 'NOT_ASKED' });
    await expect(resume(started.runId, { home, service })).rejects.toMatchObject({ code: 'RUN_FINISHED' });
  });

  test('a parsed file runs like a built pipeline, and opens the embedded service itself', async () => {
    const file = parsePipeline({
      file: 'p.yaml',
      text: 'version: 1\nname: file\nsteps: { hello: { command: [echo, hello] } }',
    });
    expect(await (await run(file, { home })).finished).toMatchObject({ status: 'succeeded' });
  });
});

test.each<[code: string, start: () => Promise<unknown>]>([
  ['INVALID_ARGUMENT', () => run(undefined as never)],
  ['INVALID_ARGUMENT', () => run(approval(), { home, service, parallelism: 0 })],
  ['INVALID_ARGUMENT', () => readRun(5 as never, { home })],
  ['INVALID_PIPELINE', () => run(pipeline('Not A Name'), { home, service })],
  ['INVALID_PIPELINE', () => run(approval(), { home, service, params: { n: 5 } as never })],
  ['RUN_NOT_FOUND', () => readRun('none', { home })],
  ['RUN_NOT_FOUND', () => resume('none', { home, service })],
])('wrong use is a SluiceError: %s', async (code, start) => {
  await expect(start()).rejects.toMatchObject({ name: 'SluiceError', code });
});

test('the safe variant returns the error with its diagnostics', async () => {
  const p = pipeline('cycle');
  const a = p.step('a', { command: ['x'], needs: { name: 'b' } });
  p.step('b', { command: ['x'], needs: a });
  expect(await safeRun(p, { home, service })).toMatchObject({
    ok: false,
    error: { code: 'INVALID_PIPELINE', diagnostics: [{ code: 'cycle' }] },
  });
});
