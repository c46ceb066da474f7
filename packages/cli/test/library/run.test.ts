import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ok } from '@sluice/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  approveRun,
  type Connection,
  cancelRun,
  execute,
  explainStep,
  listRuns,
  loadPipeline,
  openEmbeddedService,
  parsePipeline,
  pipeline,
  pullOutput,
  readRun,
  reportRun,
  resume,
  run,
  safeExecute,
  safeRun,
  suspendRun,
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
    const typed = p.results({ done: all.results.done, products: one.results.product });
    const seen: string[] = [];
    const started = await run(typed, {
      home,
      service,
      params: { values: [4, 5] },
      onEvent: ({ type }) => seen.push(type),
    });
    const types: string[] = [];
    for await (const event of started.events) types.push(event.type);
    const result = await started.finished;
    expect(result).toMatchObject({ runId: started.runId, status: 'succeeded' });
    const products: readonly number[] = result.of(one).product;
    const done: boolean = result.of(all).done;
    expect({ products, done }).toEqual({ products: [8, 10], done: true });
    const declared: { readonly done: boolean; readonly products: readonly number[] } = result.results;
    expect(declared).toEqual({ done: true, products: [8, 10] });
    expect(types).toEqual(seen);
    expect([types[0], types.at(-1)]).toEqual(['runStarted', 'runFinished']);

    expect(await listRuns({ home })).toMatchObject([{ runId: started.runId, status: 'succeeded' }]);
    expect(await readRun(started.runId, { home })).toEqual(result.report);
    expect(await explainStep(started.runId, 'all', { home })).toMatchObject({ status: 'succeeded' });
    expect(existsSync((await reportRun(started.runId, { home })).page)).toBe(true);
    const to = join(home, '../list');
    const bytes = '[8,10]\n'.length;
    expect(await pullOutput(started.runId, 'list', { home, service, to })).toEqual({
      ...{ output: 'list', to, files: 1, bytes, warnings: [] },
    });
    expect(readFileSync(join(to, 'products'), 'utf8')).toBe('[8,10]\n');
    const file = join(home, '../copied');
    expect(await pullOutput(started.runId, 'all.list/products/', { home, service, to: file })).toEqual({
      ...{ output: 'all.list', path: 'products', to: file, files: 1, bytes, warnings: [] },
    });
    expect(readFileSync(file, 'utf8')).toBe('[8,10]\n');
    for (const [output, code] of [
      ['all.list/product', 'SOURCE_MISSING'],
      ['all.lists', 'SOURCE_MISSING'],
      ['list', 'TARGET_REJECTED'],
    ] as const) {
      await expect(pullOutput(started.runId, output, { home, service, to: file })).rejects.toMatchObject({ code });
    }
  });

  test('a failed step is a status, and its results are an error', async () => {
    const p = pipeline('failing');
    const fit = p.step('fit', { command: ['false'], results: { loss: 'number' } });
    const result = await (await run(p.results({ loss: fit.results.loss }), { home, service })).finished;
    expect(result.status).toBe('failed');
    expect(() => result.of(fit)).toThrow(expect.objectContaining({ code: 'NO_RESULT' }));
    expect(Object.keys(result.results)).toEqual([]);
    expect(() => result.results.loss).toThrow(
      expect.objectContaining({ code: 'NO_RESULT', message: expect.stringContaining('step fit did not succeed') }),
    );
    for (const wrong of [undefined, 5, {}, { name: 'fit' }]) {
      expect(() => result.of(wrong as never)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    }
    expect(() => result.of({ name: 'other', results: {} })).toThrow(
      expect.objectContaining({ code: 'STEP_NOT_FOUND' }),
    );
  });

  test('execute resolves at the end with any status, and only its start can throw', async () => {
    const p = pipeline('executed', { params: { text: 'a' } });
    const echo = p.step('echo', {
      script: `echo ${p.params.text} > /sluice/results/text`,
      results: { text: 'string' },
    });
    const typed = p.results({ text: echo.results.text });
    const seen: string[] = [];
    const given = { home, service, params: { text: 'b' } };
    const result = await execute(typed, { ...given, onEvent: ({ type }) => seen.push(type) });
    expect([result.status, result.results.text, result.of(echo).text]).toEqual(['succeeded', 'b', 'b']);
    expect(seen.at(-1)).toBe('runFinished');
    const failing = pipeline('failing');
    failing.step('fit', { command: ['false'] });
    expect(await execute(failing, { home, service })).toMatchObject({ status: 'failed' });
    const stop = new AbortController();
    const onEvent = ({ type }: { type: string }) => type === 'approvalAsked' && stop.abort();
    const canceled = await safeExecute(approval(), { home, service, signal: stop.signal, onEvent });
    expect(canceled).toMatchObject({ ok: true, value: { status: 'canceled' } });
    await expect(execute(approval(), { home, service, signal: stop.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    expect(await safeExecute(typed, { ...given, params: { text: 5 as never } })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_PIPELINE' },
    });
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

  test('a suspended run is resumed, and approved from outside or by its handle', async () => {
    const started = await run(approval(), { home, service });
    await started.suspend();
    expect(await started.finished).toMatchObject({ status: 'suspended' });
    const resumed = await resume(started.runId, { home, service });
    for await (const { type } of resumed.events) if (type === 'approvalAsked') break;
    const wrong: readonly (() => void)[] = [
      () => resumed.approve(5 as never),
      () => resumed.approve('ask', null as never),
      () => resumed.approve('ask', { by: 5 as never }),
    ];
    for (const call of wrong) expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    resumed.approve('ask', { by: 'ada' });
    expect(await resumed.finished).toMatchObject({ status: 'succeeded' });
    await expect(approveRun(started.runId, 'ask', { home })).rejects.toMatchObject({ code: 'NOT_ASKED' });
    await expect(resume(started.runId, { home, service })).rejects.toMatchObject({ code: 'RUN_FINISHED' });
  });

  test('a run is suspended and canceled from outside, whether a process executes it or not', async () => {
    const started = await run(approval(), { home, service });
    const { runId } = started;
    expect(await suspendRun(runId, { home })).toBe(true);
    expect(await started.finished).toMatchObject({ status: 'suspended' });
    expect(await suspendRun(runId.slice(0, 8), { home })).toBe(false);
    const resumed = await resume(runId, { home, service });
    await cancelRun(runId, { home, service, by: 'ada' });
    expect(await resumed.finished).toMatchObject({ status: 'canceled' });
    await expect(cancelRun(runId, { home, service })).rejects.toMatchObject({ code: 'RUN_FINISHED' });
    await expect(suspendRun('none', { home })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    const left = await run(approval(), { home, service });
    await left.suspend();
    await cancelRun(left.runId, { home, service });
    expect(await readRun(left.runId, { home })).toMatchObject({ status: 'canceled' });
  });

  test('a resumed run has the types of its results if the pipeline is given', async () => {
    const p = approval();
    const say = p.step('say', { script: 'echo 5 > /sluice/results/count', results: { count: 'number' } });
    const declared = p.results({ count: say.results.count });
    const started = await run(declared, { home, service });
    await started.suspend();
    const resumed = await resume(started.runId, { home, service, pipeline: declared });
    for await (const { type } of resumed.events) if (type === 'approvalAsked') break;
    resumed.approve('ask');
    const { results } = await resumed.finished;
    const count: number = results.count;
    expect(count).toBe(5);
    await expect(resume('none', { home, service, pipeline: 5 as never })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'resume: pipeline must be a pipeline',
    });
  });

  test('a parsed file runs like a built pipeline, and opens the embedded service itself', async () => {
    const file = parsePipeline({
      file: 'p.yaml',
      text: 'version: 1\nname: file\nsteps: { hello: { script: echo 1 > /sluice/results/n, results: { n: integer } } }\nresults: { n: hello.n }',
    });
    const result = await (await run(file, { home })).finished;
    expect(result).toMatchObject({ status: 'succeeded', results: { n: 1 } });
    expect(result.results.n).toBe(1);
  });

  test('relative paths start at the directory of the file, whatever the working directory is', async () => {
    const place = join(dirname(home), 'project');
    mkdirSync(join(place, 'src'), { recursive: true });
    const text = `version: 1
name: beside
include: volumes.yaml
steps:
  read:
    script: cp /in/src/text /sluice/results/text && cp /in/src/text /out/copy
    inputs: { src: volumes.src }
    outputs: { copy: /out }
    results: { text: string }
outputs: { copy: { from: read.copy, publish: ./copies } }
results: { text: read.text }
`;
    writeFileSync(join(place, 'pipeline.yaml'), text);
    writeFileSync(join(place, 'volumes.yaml'), 'volumes: { src: { source: ./src } }\n');
    writeFileSync(join(place, 'src/text'), 'beside the file');
    const file = join(place, 'pipeline.yaml');
    const read = () => ok('volumes: { src: { source: ./src } }');
    for (const given of [await loadPipeline(file), parsePipeline({ file, text, read })]) {
      const result = await (await run(given, { home, service })).finished;
      expect(result).toMatchObject({ status: 'succeeded', results: { text: 'beside the file' } });
      expect(readFileSync(join(place, 'copies/copy'), 'utf8')).toBe('beside the file');
    }
    await expect(loadPipeline(join(place, 'none.yaml'))).rejects.toMatchObject({
      code: 'SYSTEM',
      message: expect.stringContaining('none.yaml'),
    });
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
