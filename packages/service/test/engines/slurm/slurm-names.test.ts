import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineRig } from '../engine-rig.ts';
import { hasSlurm, slurm, slurmRig, stateOfJob } from './slurm-rig.ts';

const WAITING = ['sh', '-c', 'echo started; sleep 600'];

/** Names and comments are for people: jobs of several containers have the same, and their owner can change them. */
describe.skipIf(!hasSlurm && process.env.CI !== 'true')('names of jobs', () => {
  let rig: EngineRig;

  beforeAll(async () => {
    rig = slurmRig({ partition: 'main' });
    await rig.open();
  });
  afterAll(() => rig.close());

  const job = { name: 'variants/call/S1,bcftools', comment: 'run=r1 attempt=1 cell=call/S1,bcftools' };

  async function running() {
    const container = await rig.launch({ command: WAITING, job });
    const { runID } = await container.seen('running');
    return { container, runID };
  }

  it('are those of the request', async () => {
    const { container, runID } = await running();
    const shown = slurm('squeue', '--noheader', `--jobs=${runID}`, '--format=%j|%k|%Z').trim();
    expect(shown).toBe(`${job.name}|${job.comment}|${container.launch.directory}`);
    await rig.engine.stop(container.launch.key, { graceMs: 0 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
  });

  it('do not let the stop of a container reach another one of the same name', async () => {
    const [one, other] = [await running(), await running()];
    await rig.engine.stop(one.container.launch.key, { graceMs: 0 });
    expect(await one.container.end()).toEqual({ kind: 'stopped' });
    expect(stateOfJob(one.runID)).toBe('CANCELLED');
    expect(stateOfJob(other.runID)).toBe('RUNNING');
    await rig.engine.stop(other.container.launch.key, { graceMs: 0 });
    expect(await other.container.end()).toEqual({ kind: 'stopped' });
  });

  it('do not decide which job a restarted service finds', async () => {
    const [one, other] = [await running(), await running()];
    await rig.leave();
    rmSync(join(one.container.launch.directory, 'slurm-job'));
    one.container.forget();
    await rig.start();
    await rig.engine.launch(one.container.launch);
    expect(await one.container.seen('running')).toMatchObject({ runID: one.runID });
    await rig.engine.recover([other.container.launch]);
    for (const { container } of [one, other]) {
      await rig.engine.stop(container.launch.key, { graceMs: 0 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
    }
  });

  it('can be changed without a loss of the job', async () => {
    const { container, runID } = await running();
    slurm('scontrol', 'update', `JobId=${runID}`, 'JobName=mine', 'Comment=mine');
    await rig.leave();
    container.forget();
    await rig.start();
    await rig.engine.recover([container.launch]);
    expect(await container.seen('running')).toMatchObject({ runID });
    await rig.engine.stop(container.launch.key, { graceMs: 0 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
    expect(stateOfJob(runID)).toBe('CANCELLED');
  });

  it('can be changed without a loss of the signal that asks the command to end', async () => {
    const container = await rig.launch({
      command: ['sh', '-c', 'trap "exit 7" TERM; echo started; while :; do sleep 0.1; done'],
    });
    const { runID } = await container.seen('running');
    await rig.untilLog(container, 'started');
    slurm('scontrol', 'update', `JobId=${runID}`, 'JobName=mine');
    await rig.engine.stop(container.launch.key, { graceMs: 600_000 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
  });

  it('of a container without one are its key', async () => {
    const container = await rig.launch({ command: WAITING });
    const { runID } = await container.seen('running');
    expect(slurm('squeue', '--noheader', `--jobs=${runID}`, '--format=%j').trim()).toBe(
      `sluice-${container.launch.key}`,
    );
    await rig.engine.stop(container.launch.key, { graceMs: 0 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
  });
});
