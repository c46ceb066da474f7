import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { cancelRun } from '../../src/run/cancel-run.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const PLAN = createHandPlan([createStep('slow')]);
const slow = { behave: { slow: { runMs: 600_000 } } };

async function leaveRun(seed: string) {
  const rig = createRig(seed, slow);
  const started = await rig.go(startRun({ ...rig.options, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
  await rig.go(started.value.suspend());
  return { rig, runId: started.value.runId };
}

test('cancelRun asks the process that resumes the run between its request and its own resume', async () => {
  const { rig, runId } = await leaveRun('resumed meanwhile');
  let resuming: ReturnType<typeof resumeRun> | undefined;
  const ask: typeof rig.disk.ask = async (directory, line) => {
    const answer = await rig.disk.ask(directory, line);
    // Asked last, after the directory of the run itself.
    if (directory.endsWith('/entering')) {
      resuming ??= resumeRun({ ...rig.options, runId });
      await rig.clock.delay(1);
    }
    return answer;
  };
  const canceled = await rig.go(cancelRun({ ...rig.options, disk: { ...rig.disk, ask }, runId, by: 'ada' }));
  expect(canceled).toEqual({ ok: true, value: undefined });
  const resumed = await rig.go(resuming!);
  expect(resumed.ok && (await rig.go(resumed.value.finished))).toMatchObject({ status: 'canceled' });
});

test('cancelRun asks again when a process has taken the run and does not listen yet', async () => {
  const { rig, runId } = await leaveRun('not listening');
  let asked = 0;
  const ask: typeof rig.disk.ask = async (directory, line) => (++asked === 1 ? '' : rig.disk.ask(directory, line));
  const canceled = await rig.go(cancelRun({ ...rig.options, disk: { ...rig.disk, ask }, runId, by: 'ada' }));
  expect(canceled).toMatchObject({ ok: true, value: { status: 'canceled' } });
});
