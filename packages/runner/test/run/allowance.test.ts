import type { Container } from '@sluice/client';
import { createPlan, type Plan, parsePipeline } from '@sluice/core';
import { describeStatus, type RunReport } from '@sluice/run';
import { expect, test } from 'vitest';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { RunAllowance } from '../../src/session/run-allowance.ts';
import type { StartRunOptions } from '../../src/session/run-options.ts';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const KIB = 1024;

function planOf(steps: string): Plan {
  const text = `version: 1\nname: allowed\nparams: { list: { type: array, default: [1, 2, 3] } }\nsteps:\n${steps}`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params: {} });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

const allow = (given: Partial<RunAllowance>): RunAllowance => ({
  maxCells: () => 1_000_000,
  maxResultBytes: 1e9,
  ...given,
});

async function run(rig: Rig, plan: Plan, more: Partial<StartRunOptions>): Promise<RunReport> {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base', ...more }));
  if (!started.ok) throw new Error(started.error.message);
  return rig.go(started.value.finished);
}

const messages = (report: RunReport) => report.failures.map(({ message }) => message);

const FAN_OUT = planOf(`
  one: { command: [x] }
  first: { command: [x], foreach: "\${{ params.list }}", needs: one }
  second: { command: [x], foreach: "\${{ params.list }}", needs: first }
`);

test('the cells of all foreach are limited together, and the step beyond the limit fails with it', async () => {
  const enough = await run(createRig('cells'), FAN_OUT, { allowance: allow({ maxCells: () => 7 }) });
  expect(enough.status).toBe('succeeded');
  const rig = createRig('cells');
  const report = await run(rig, FAN_OUT, { allowance: allow({ maxCells: () => 6 }) });
  expect(report.steps.map(describeStatus)).toEqual(['succeeded', 'succeeded', 'failed']);
  expect(messages(report)).toEqual([
    '`foreach` of step `second` cannot be used: it yields 3 items: the run would have 7 cells, and this server allows 6 (`runs.steps`)',
  ]);
  expect(rig.created()).toHaveLength(4);
});

test('a run that is resumed counts the cells that were decided before', async () => {
  const rig = createRig('resumed', { behave: { first: { runMs: 600_000 } } });
  const options = { ...rig.options, allowance: allow({ maxCells: () => 6 }) };
  const started = await rig.go(startRun({ ...options, plan: FAN_OUT, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.created().length === 4);
  await rig.go(started.value.suspend());
  const resumed = await rig.go(resumeRun({ ...options, runId: started.value.runId }));
  if (!resumed.ok) throw new Error(resumed.error.message);
  expect((await rig.go(resumed.value.finished)).steps.map(describeStatus)).toEqual([
    'succeeded',
    'succeeded',
    'failed',
  ]);
});

const RESULTS = planOf(`
  first: { command: [x], results: { r: string }, cache: true }
  second: { command: [x], results: { r: string }, needs: first, cache: true }
`);

/** Each step writes a result of so many KiB. */
function createResultRig(sizes: Readonly<Record<string, number>>): Rig {
  const work = (name: string) => ({
    work({ volumeMounts = {} }: Container) {
      const [volume = '', place = ''] = Object.keys(volumeMounts)[0]!.split(':');
      writeFile(rig.simulated.volumes.get(volume)!, `${place}/r`, Buffer.alloc(sizes[name]! * KIB, 120));
    },
  });
  const rig: Rig = createRig('results', { behave: { first: work('first'), second: work('second') } });
  return rig;
}

const RESULTS_EXCESS = 'the results of all steps of a run may have 1048576 bytes together on this server (1 MiB)';

test('the results of all steps are limited together, and the attempt beyond the limit fails with it', async () => {
  const allowance = allow({ maxResultBytes: KIB * KIB });
  expect((await run(createResultRig({ first: 500, second: 500 }), RESULTS, { allowance })).status).toBe('succeeded');
  const report = await run(createResultRig({ first: 600, second: 600 }), RESULTS, { allowance });
  expect(report.steps.map(describeStatus)).toEqual(['succeeded', 'failed']);
  expect(messages(report)).toEqual([
    `could not publish: result r: could not read it: ${RESULTS_EXCESS}; write larger data to an output`,
  ]);
});

test('results that are not kept do not count', async () => {
  const allowance = allow({ maxResultBytes: KIB * KIB });
  const plan = planOf(`
  first: { command: [x], results: { r: string, missing: string }, retry: { limit: 3, backoff: { initial: 1s } }, continueOnError: true }
  second: { command: [x], results: { r: string }, needs: { first: completed } }
`);
  const report = await run(createResultRig({ first: 600, second: 600 }), plan, { allowance });
  expect(report.steps.map(describeStatus)).toEqual(['failed', 'succeeded']);
});

test('results from the cache count, and those beyond the limit are not reused', async () => {
  const rig = createResultRig({ first: 600, second: 600 });
  expect((await run(rig, RESULTS, {})).status).toBe('succeeded');
  expect((await run(rig, RESULTS, {})).steps.map(describeStatus)).toEqual(['reused', 'reused']);
  const report = await run(rig, RESULTS, { allowance: allow({ maxResultBytes: KIB * KIB }) });
  expect(report.steps.map(describeStatus)).toEqual(['reused', 'failed']);
  expect(report.warnings?.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^could not reuse step second of run \w+: the results of all steps of a run may have 1048576/,
    ),
  ]);
});
