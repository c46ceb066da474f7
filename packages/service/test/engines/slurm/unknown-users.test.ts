import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { createFakeSlurm, type FakeSlurm } from './fake-slurm.ts';

const OWN = process.geteuid?.() ?? 0;

describe('Slurm engine with users that Slurm cannot look up', () => {
  let slurm: FakeSlurm;
  let rig: EngineRig;
  beforeEach(async () => {
    slurm = createFakeSlurm();
    // A job that the queue lacks once ends its container.
    const config = slurmConfigSchema.parse({ pollInterval: '10ms', recordGrace: '0s' });
    rig = new EngineRig(() => createSlurmEngine(config, { storage: tmpdir() }), {});
    await rig.open();
  });
  afterEach(async () => {
    await rig.close();
    slurm.remove();
  });

  const launch = async () => {
    const container = await rig.launch({ command: ['x'] });
    await container.seen('running');
    return container;
  };
  const readQueueAgain = async (times: number) => {
    const before = slurm.calls('squeue').length;
    await expect.poll(() => slurm.calls('squeue').length).toBeGreaterThan(before + times);
  };

  it('reads all jobs, and follows those of the user', async () => {
    const container = await launch();
    slurm.fail(`unknown-${OWN}`);
    await readQueueAgain(6);
    expect(container.observations.at(-1)?.type).toBe('running');
    await rig.engine.stop(container.launch.key, { graceMs: 0 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
  });

  it('ends no container while every answer lacks a user, and reports that Slurm does not answer', async () => {
    await rig.leave();
    const config = slurmConfigSchema.parse({ pollInterval: '10ms', recordGrace: '0s' });
    const engine = createSlurmEngine(config, { storage: tmpdir() });
    const answers: (string | undefined)[] = [];
    const ended: string[] = [];
    await engine.open({
      report: (key, { type }) => void (type === 'ended' && ended.push(key)),
      answers: (failure) => void answers.push(failure),
    });
    const { launch } = await rig.prepare({ command: ['x'] });
    await engine.launch(launch);
    await readQueueAgain(1);
    slurm.fail('mute');
    await expect.poll(() => answers.at(-1)).toContain('Invalid user');
    await readQueueAgain(6);
    expect(ended).toEqual([]);
    slurm.mend('mute');
    await expect.poll(() => answers.at(-1)).toBeUndefined();
    expect(ended).toEqual([]);
    await engine.close();
  });

  it('asks for the jobs of its own users only', async () => {
    await launch();
    const before = slurm.calls('squeue').length;
    await readQueueAgain(2);
    const later = slurm.calls('squeue').slice(before);
    expect(later.filter((call) => !call.endsWith(` --user=${OWN}`))).toEqual([]);
  });
});
