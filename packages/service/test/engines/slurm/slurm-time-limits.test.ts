import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineRig } from '../engine-rig.ts';
import { hasSlurm, slurm, slurmRig, until } from './slurm-rig.ts';

describe.skipIf((!hasSlurm && process.env.CI !== 'true') || process.geteuid?.() !== 0)('time limits of jobs', () => {
  const partition = `minute-${process.pid}`;
  let rig: EngineRig;

  beforeAll(async () => {
    slurm('scontrol', 'create', `PartitionName=${partition}`, 'Nodes=n1', 'MaxTime=1', 'State=UP');
    rig = slurmRig({ partition });
    await rig.open();
  });
  afterAll(async () => {
    await rig.close();
    await until('nothing runs there', () => slurm('squeue', '--all', '--noheader', `--partition=${partition}`) === '');
    slurm('scontrol', 'delete', `PartitionName=${partition}`);
  });

  const limitOf = (jobId: string) => slurm('squeue', '--noheader', `--jobs=${jobId}`, '--format=%l').trim();

  it('are the requested time with a grace period', async () => {
    const own = slurmRig({ partition: 'main' });
    await own.open();
    const container = await own.launch({
      command: ['sleep', '600'],
      job: { time: { ms: 5_400_000, required: true } },
    });
    const { runID } = await container.seen('running');
    expect(limitOf(runID)).toBe('1:31:00');
    await own.close();
  });

  it('of a timeout are no longer than the partition allows, where the job then is ended as timed out', async () => {
    const container = await rig.launch({ command: ['sleep', '600'], job: { time: { ms: 9e9, required: false } } });
    const { runID } = await container.seen('running');
    expect(limitOf(runID)).toBe('1:00');
    expect(await container.end()).toMatchObject({ kind: 'exited', timedOut: true });
  });

  it('that are required and too long are rejected before and at the start', async () => {
    const job = { time: { ms: 9e9, required: true } };
    const why = "could not request 150000 minutes from Slurm: Slurm's partition allows 1";
    expect(() => rig.engine.checkJob?.(job, { options: { partition }, gpus: 0 })).toThrow(why);
    const container = await rig.prepare({ command: ['true'], job });
    expect(await rig.rejection(container)).toEqual({ kind: 'rejected', reason: expect.stringContaining(why) });
  });
});
