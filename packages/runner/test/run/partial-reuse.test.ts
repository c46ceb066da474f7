import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Container } from '@sluice/client';
import { createPlan, type Plan, parsePipeline } from '@sluice/core';
import { createSystemDisk } from '@sluice/home';
import { describeStatus, type RunReport } from '@sluice/run';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pullOutput } from '../../src/data/pull-output.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { StartRunOptions } from '../../src/session/run-options.ts';
import { RESULT_MARKER } from '../../src/trees/result-marker.ts';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig } from '../simulation/rig.ts';
import type { Behaviour } from '../simulation/simulated-service.ts';

let base: string;
let rig: Rig;
let behave: Record<string, Partial<Behaviour>>;

/** Writes into each output which container of which run wrote it. */
function sign(container: Container): void {
  const { labels = {} } = container;
  const text = `${labels['sluice-step']}/${labels['sluice-cell']}`;
  for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
    const [volume = '', place = ''] = key.split(':');
    if (at.startsWith('/in/') || at === '/sluice/results') continue;
    writeFile(rig.simulated.volumes.get(volume)!, `${place}/file.txt`, Buffer.from(text));
  }
}

beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'sluice-partial-'));
  behave = { fit: { work: sign }, join: { work: sign } };
  rig = createRig('partial', { realTime: true, behave });
});
afterEach(() => rm(base, { recursive: true, force: true }));

function planFit(values: readonly number[], { cache = 'cache: true', more = '' } = {}): Plan {
  const text = `
version: 1
name: partial
failFast: false
params: { x: { type: array, default: ${JSON.stringify(values)} } }
steps:
  fit:
    matrix: { x: "\${{ params.x }}" }
    command: [fit, "\${{ matrix.x }}"]
    outputs: { o: /out }
    ${cache}
${more}
outputs:
  all: { from: fit.o, publish: ./result }
`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params: {} });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

async function run(plan: Plan, more: Partial<StartRunOptions> = {}): Promise<RunReport> {
  await rm(path.join(base, 'result'), { recursive: true, force: true });
  const home = path.join(base, 'home');
  const options = { ...rig.options, home, disk: createSystemDisk(), plan, baseDir: base, ...more };
  const started = await startRun(options);
  if (!started.ok) throw new Error(started.error.message);
  return started.value.finished;
}

/** Every file beneath a local directory with its text, but for the manifest and the marker. */
async function readTree(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const files = names.map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name))).sort();
  const texts = files
    .filter((file) => file !== 'manifest.json' && file !== RESULT_MARKER)
    .map(async (file) => [file, await readFile(path.join(directory, file), 'utf8')]);
  return Object.fromEntries(await Promise.all(texts));
}

const expected = (...values: readonly number[]) =>
  Object.fromEntries([...values].sort().map((value) => [`x-${value}/file.txt`, `fit/x-${value}`]));
/** A directory has all cells of this run and no others, and its marker names the run and the files. */
async function expectDelivery(directory: string, runId: string, values: readonly number[]): Promise<void> {
  const files = expected(...values);
  expect(await readTree(directory)).toEqual(files);
  const marker = JSON.parse(await readFile(path.join(directory, RESULT_MARKER), 'utf8'));
  expect(marker).toMatchObject({ runId, pipeline: 'partial', output: 'all' });
  expect(marker.files.sort()).toEqual(['manifest.json', ...Object.keys(files)].sort());
}
const cellStates = (report: RunReport) =>
  report.steps.find(({ step: name }) => name === 'fit')!.cells.map(describeStatus);
const pull = async (runId: string): Promise<string> => {
  const to = path.join(base, 'pulled');
  await rm(to, { recursive: true, force: true });
  const home = path.join(base, 'home');
  const pulled = await pullOutput({ service: rig.options.service, home, runId, output: 'all', to });
  if (!pulled.ok) throw new Error(pulled.error.message);
  return to;
};

describe('a step of which some cells are reused', () => {
  test.each([
    { next: [1, 2, 3], states: ['reused', 'reused', 'succeeded'] },
    { next: [4, 1, 2], states: ['succeeded', 'reused', 'reused'] },
    { next: [1, 9], states: ['reused', 'succeeded'] },
    { next: [2], states: ['reused'] },
    { next: [2, 1], states: ['reused', 'reused'] },
    { next: [1, 2], states: ['reused', 'reused'] },
  ])('publishes and pulls all cells of this run and no others: $next after 1,2', async ({ next, states }) => {
    await run(planFit([1, 2]));
    const report = await run(planFit(next));
    expect(cellStates(report)).toEqual(states);
    await expectDelivery(path.join(base, 'result'), report.runId, next);
    await expectDelivery(await pull(report.runId), report.runId, next);
    const manifest = JSON.parse(await readFile(path.join(base, 'pulled', 'manifest.json'), 'utf8'));
    expect(manifest.cells.map(({ matrix, status }: { matrix: object; status: string }) => [matrix, status])).toEqual(
      next.map((x) => [{ x }, 'succeeded']),
    );
  });

  test('publishes and pulls all cells with --reuse after one failed cell', async () => {
    const plan = planFit([1, 2, 3], { cache: '' });
    behave.fit = { work: sign, endOf: ({ labels = {} }) => (labels['sluice-cell'] === 'x-2' ? 'Failed' : 'Succeeded') };
    const failed = await run(plan);
    expect(cellStates(failed)).toEqual(['succeeded', 'failed', 'succeeded']);
    behave.fit = { work: sign };
    const report = await run(plan, { reuse: { runId: failed.runId, from: [] } });
    expect(cellStates(report)).toEqual(['reused', 'succeeded', 'reused']);
    await expectDelivery(path.join(base, 'result'), report.runId, [1, 2, 3]);
    await expectDelivery(await pull(report.runId), report.runId, [1, 2, 3]);
  });

  test('gives expressions the place of each cell, in the order of the cells', async () => {
    const more = '  join: { command: [join, "${{ steps.fit.outputs.o }}"], needs: [fit] }';
    const first = await run(planFit([1, 2], { more }));
    const second = await run(planFit([3, 1], { more }));
    const joins = rig.created().filter(({ wire }) => wire.labels?.['sluice-step'] === 'join');
    const places = JSON.parse(joins.at(-1)!.wire.command![1]!) as string[];
    expect(places.map((place) => place.split(':')[1])).toEqual([
      `runs/${second.runId}/out/fit/o/x-3`,
      `runs/${first.runId}/out/fit/o/x-1`,
    ]);
  });

  test('fails a step whose reused inputs are more mounts than its service takes, and says what to run again', async () => {
    const more = `
  join:
    command: [join]
    inputs: { cells: { from: fit.o, path: /in/cells } }
    outputs: { o: /out }`;
    const limits = { clusters: {}, instanceTypes: {}, mounts: 4 };
    const first = await run(planFit([1, 2, 3], { more }), { limits });
    const wider = planFit([1, 2, 3, 4], { more });
    const rejected = await run(wider, { limits });
    expect([first.status, rejected.status]).toEqual(['succeeded', 'failed']);
    expect(rejected.failures).toMatchObject([
      {
        step: 'join',
        message:
          'step join needs 5 mounts, but its service accepts 4: each reused cell of fit needs one; add `--from fit` to run these cells again instead of reusing them',
      },
    ]);
    expect(rig.created().filter(({ wire }) => wire.labels?.['sluice-step'] === 'join')).toHaveLength(1);
    const forced = await run(wider, { limits, reuse: { runId: rejected.runId, from: ['fit'] } });
    expect(forced.status).toBe('succeeded');
    expect((await run(wider, { limits: { ...limits, mounts: 5 } })).status).toBe('succeeded');
  });

  test('reports the place of each cell', async () => {
    const first = await run(planFit([1, 2]));
    const second = await run(planFit([3, 1]));
    expect(second.outputs.all?.locations.map(({ cell, path: at }) => [cell, at])).toEqual([
      ['x-3', `runs/${second.runId}/out/fit/o/x-3`],
      ['x-1', `runs/${first.runId}/out/fit/o/x-1`],
    ]);
  });
});
