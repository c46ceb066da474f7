import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { createFakeSlurm, type FakeSlurm } from './fake-slurm.ts';

const JOB = { slurm: { qos: 'high' } };

/** What the configuration allows may change between two launches of one container. */
describe('Slurm engine that launches a container again', () => {
  let slurm: FakeSlurm;
  let rig: EngineRig;
  let allow: string[];
  beforeEach(async () => {
    slurm = createFakeSlurm();
    allow = ['qos'];
    const make = () =>
      createSlurmEngine(slurmConfigSchema.parse({ pollInterval: '10ms', allow }), { storage: tmpdir() });
    rig = new EngineRig(make);
    await rig.open();
  });
  afterEach(async () => {
    await rig.close();
    slurm.remove();
  });

  it('follows the job of a lost submission whose options are no longer allowed', async () => {
    const container = await rig.launch({ command: ['x'], job: JOB });
    const { runID } = await container.seen('running');
    await rig.leave();
    rmSync(join(container.launch.directory, 'slurm-job'));
    container.forget();
    allow = [];
    await rig.start();
    await rig.engine.launch(container.launch);
    expect(await container.seen('running')).toMatchObject({ runID });
  });

  it('rejects a container only where no job of it can start any more', async () => {
    allow = [];
    await rig.leave();
    await rig.start();
    const container = await rig.prepare({ command: ['x'], job: JOB });
    const claim = join(container.launch.directory, 'claim');
    writeFileSync(claim, '');
    await expect(rig.engine.launch(container.launch)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    rmSync(claim);
    await expect(rig.engine.launch(container.launch)).rejects.toMatchObject({ code: 'REJECTED' });
    expect(readFileSync(claim, 'utf8')).toBe('ended');
    expect(slurm.calls('sbatch')).toEqual([]);
  });
});
