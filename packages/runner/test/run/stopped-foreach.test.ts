import { createPlan, type Plan, parsePipeline } from '@sluice/core';
import { readRun } from '@sluice/home';
import type { RunReport } from '@sluice/run';
import { beforeEach, describe, expect, test } from 'vitest';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { RunHandle, StartRunOptions } from '../../src/session/run-options.ts';
import { createRig, type Rig } from '../simulation/rig.ts';
import type { Behaviour } from '../simulation/simulated-service.ts';

const NUMBERS = [1, 2, 3, 4, 5, 6];

function planSteps(steps: string): Plan {
  const text = `version: 1\nname: release\nparams: { regions: { type: array, default: [eu, us, asia] } }\nsteps:\n${steps}`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params: {} });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

/** A test beside the preparation of a `foreach`; the cells after those of `deploy` are the first to be read for them. */
const BESIDE_A_TEST = planSteps(`
  prepare: { command: [prepare] }
  test: { command: [test] }
  deploy: { foreach: "\${{ params.regions }}", command: [deploy, "\${{ item }}"], needs: prepare }
  smoke: { matrix: { n: [${NUMBERS}] }, command: [smoke] }
`);

/** The evaluation of one `foreach` fails in the moment in which the other one is decided. */
const BESIDE_A_FAULT = planSteps(`
  prepare: { command: [prepare] }
  broken: { foreach: ["\${{ params.regions[7] }}"], command: [x], needs: prepare }
  deploy: { foreach: "\${{ params.regions }}", command: [deploy, "\${{ item }}"], needs: prepare }
  smoke: { matrix: { n: [${NUMBERS}] }, command: [smoke] }
`);

let rig: Rig;
let behave: Record<string, Partial<Behaviour>>;

beforeEach(() => {
  behave = { test: { end: 'Failed', exitCode: 1 } };
  // Without hints, one list shows the end of several containers in one turn of the loop.
  rig = createRig('stopped', { hints: false, behave });
});

async function begin(plan: Plan, more: Partial<StartRunOptions> = {}): Promise<RunHandle> {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base', ...more }));
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

async function read(runId: string): Promise<RunReport> {
  const report = await readRun('/home', runId, rig.disk);
  if (!report.ok) throw new Error(report.error.message);
  return report.value;
}

/** Cells of `deploy` in a report; none of them has ever had a container. */
function deployed({ steps }: RunReport): readonly unknown[] {
  const deploy = steps.find(({ step: name }) => name === 'deploy')!;
  expect(rig.created().filter(({ wire }) => wire.labels?.['sluice-step'] === 'deploy')).toEqual([]);
  return [deploy.status, ...deploy.cells];
}

/** Cells of a report that count as successful, and never had a container. */
function ghosts({ runId, steps }: RunReport): string[] {
  const created = new Set(
    rig
      .created()
      .flatMap(({ wire: { labels: of = {} } }) =>
        of['sluice-run'] === runId ? [`${of['sluice-step']}/${of['sluice-cell']}`] : [],
      ),
  );
  return steps.flatMap(({ step: name, cells }) =>
    cells.flatMap(({ cell, status }) =>
      status === 'succeeded' && !created.has(`${name}/${cell}`) ? [`${name}/${cell}`] : [],
    ),
  );
}

describe('a run that stops while a foreach is decided', () => {
  test('has no cell that succeeded without a container, in whatever order the ends of other steps arrive', async () => {
    const ways = new Set<string>();
    for (const last of 'abcdefgh') {
      const { finished, runId } = await begin(BESIDE_A_TEST, { runId: `stoppedrunnn${last}` });
      const report = await rig.go(finished);
      expect(ghosts(report), runId).toEqual([]);
      expect(ghosts(await read(runId)), runId).toEqual([]);
      ways.add(String(report.steps[2]!.cells.length));
    }
    // In some, the step was decided before the run began to stop, in others not at all.
    expect([...ways].sort()).toEqual(['0', '3']);
  });

  test('has no cell of it where another foreach cannot be evaluated, and a rerun executes all of them', async () => {
    const first = await rig.go((await begin(BESIDE_A_FAULT)).finished);
    expect(first.status).toBe('failed');
    expect(deployed(first)).toEqual(['skipped']);
    expect(deployed(await read(first.runId))).toEqual(['skipped']);
    const reuse = { runId: first.runId, from: [] };
    const second = await rig.go((await begin({ ...BESIDE_A_TEST }, { reuse })).finished);
    const cells = second.steps.find(({ step: name }) => name === 'deploy')!.cells;
    expect(cells.filter(({ reused }) => reused)).toEqual([]);
  });

  test('has no cell of it after it was left and resumed', async () => {
    behave.smoke = { runMs: 600_000 };
    const handle = await begin(BESIDE_A_FAULT);
    await rig.until(() => rig.events.some((event) => event.type === 'cellChanged' && event.step === 'broken'));
    await rig.go(handle.suspend());
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: handle.runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    expect(deployed(await rig.go(resumed.value.finished))).toEqual(['skipped']);
    expect(deployed(await read(handle.runId))).toEqual(['skipped']);
  });
});
