import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const PLAN = createHandPlan([createStep('a', { command: ['true'] }), createStep('b', { command: ['true'] })]);

function warnings(rig: Rig): string[] {
  return rig.events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
}

async function start(rig: Rig) {
  const started = await rig.go(startRun({ ...rig.options, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

describe('warnOfClusters', () => {
  test('warns once of a cluster that does not limit memory, also if the run is resumed', async () => {
    const rig = createRig('unlimited', { features: ['read-only-mounts', 'unlimited-memory'] });
    const handle = await start(rig);
    await rig.go(handle.suspend());
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: handle.runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    const report = await rig.go(resumed.value.finished);
    expect(report.status).toBe('succeeded');
    expect(warnings(rig)).toEqual([expect.stringContaining('cluster sim does not limit memory')]);
  });

  test.each([
    [['docker-options'], []],
    [[], [expect.stringMatching(/^cluster sim .* ignores 'docker' of step c$/)]],
  ])('warns of a cluster with %j that ignores the options of a step', async (features, expected) => {
    const step = createStep('c', { command: ['true'], image: 'i', docker: { user: '1000' } });
    const rig = createRig('docker', { features });
    const started = await rig.go(startRun({ ...rig.options, plan: createHandPlan([step]), baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    await rig.go(started.value.finished);
    expect(warnings(rig)).toEqual(expected);
  });

  test('says nothing of any other cluster', async () => {
    const rig = createRig('limited');
    await rig.go((await start(rig)).finished);
    expect(warnings(rig)).toEqual([]);
  });
});
