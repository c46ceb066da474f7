import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { cancelOrphans, findOrphans } from '../../src/gc/find-orphans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

test('findOrphans finds what no run here will ask for again; only that is cancelled', async () => {
  const rig = createRig('orphans', { behave: { slow: { runMs: 86_400_000 } } });
  const plan = createHandPlan([createStep('slow')]);
  const { service, scope, home, disk } = { ...rig.options, disk: rig.disk };
  const options = { service, scope, home, disk };
  const start = async () => {
    const before = rig.created().length;
    const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    await rig.until(() => rig.created().length > before);
    await rig.go(started.value.suspend());
    return started.value.runId;
  };
  const [suspended, over, unknown] = [await start(), await start(), await start()];
  // One run has ended by its record although its container is live; another is unknown in this home.
  rig.disk.files.set(
    `/home/runs/${over}/summary.json`,
    Buffer.from(JSON.stringify({ pipeline: 'hand', createdAt: 0, status: 'failed', endedAt: 1 })),
  );
  await rig.disk.remove(`/home/runs/${unknown}`);
  // Somebody else's, with an ID like ours, and one with labels like ours.
  const foreign = `s${'a'.repeat(13)}-${'b'.repeat(12)}-1`;
  await rig.go(service.containers.create(scope, { instanceType: 'sim-1' }, { containerID: foreign }));
  const labels = { 'sluice-run': over, 'sluice-step': 'slow', 'sluice-cell': '', 'sluice-attempt': '7' };
  await rig.go(service.containers.create(scope, { instanceType: 'sim-1', labels }, { containerID: 'mine' }));

  const orphans = await rig.go(findOrphans(options));
  const runs = orphans.map(({ runId, run }) => `${runId} ${run}`).sort();
  expect(runs).toEqual([`${over} ended`, `${unknown} unknown`].sort());
  expect(await rig.go(cancelOrphans(options, { orphans }))).toMatchObject([{ runId: over }]);
  const phaseOf = (runId: string) =>
    rig.created().find(({ wire }) => wire.labels?.['sluice-run'] === runId)?.wire.phase;
  await rig.until(() => phaseOf(over) === 'Canceled');
  expect([phaseOf(suspended), phaseOf(unknown)]).toEqual(['Running', 'Running']);
  expect(await rig.go(cancelOrphans(options, { orphans, runId: unknown }))).toMatchObject([{ runId: unknown }]);
});
