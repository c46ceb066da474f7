import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import { probeSlurm } from '../../../src/engines/slurm/slurm-probe.ts';
import { parseSlurmSettings } from '../../../src/engines/slurm/slurm-settings.ts';
import { EngineRig } from '../engine-rig.ts';
import { createFakeSlurm, type FakeSlurm } from './fake-slurm.ts';
import { hasSlurm, slurmRig, withProgram } from './slurm-rig.ts';

/** As `scontrol show config` of Slurm 22.05 prints it. */
const config = (lines: readonly string[]) => `Configuration data as of 2026-11-23T20:00:00
AuthType                = auth/munge
JobAcctGatherFrequency  = 30
${lines.map((line) => `${line}\n`).join('')}
Cgroup Support Configuration:
AllowedRAMSpace         = 100.0%

Slurmctld(primary) at head is UP
`;

describe('parseSlurmSettings', () => {
  it.each([
    [['TaskPlugin              = task/none'], false],
    [['TaskPlugin              = task/affinity,task/cgroup', 'ConstrainRAMSpace       = yes'], true],
    [['TaskPlugin              = task/cgroup', 'ConstrainRAMSpace       = no'], false],
    [['TaskPlugin              = task/cgroup'], undefined],
    [
      [
        'TaskPlugin              = task/none',
        'JobAcctGatherType       = jobacct_gather/linux',
        'JobAcctGatherParams     = UsePss,OverMemoryKill',
      ],
      true,
    ],
    [
      [
        'TaskPlugin              = task/none',
        'JobAcctGatherType       = jobacct_gather/none',
        'JobAcctGatherParams     = OverMemoryKill',
      ],
      false,
    ],
    [[], undefined],
  ])('reads %j as a limit of memory: %s', (lines, limitsMemory) => {
    expect(parseSlurmSettings(config(lines)).limitsMemory).toBe(limitsMemory);
  });

  it.each([
    ['AuthInfo                = (null)', undefined],
    ['AuthInfo                = ttl=60,socket=/opt/munge/munge.socket.2', '/opt/munge/munge.socket.2'],
  ])('reads the socket of Munge in %j', (line, socket) => {
    expect(parseSlurmSettings(config([line])).mungeSocket).toBe(socket);
  });
});

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('on a cluster whose nodes do not confine memory', () => {
  it('the engine announces it', async () => {
    const rig = slurmRig();
    await rig.open();
    expect(rig.engine.features).toContain('unlimited-memory');
    await rig.close();
  });

  it('probeSlurm says so, and how to change it', async () => {
    expect(await probeSlurm()).toMatchObject({
      works: true,
      found: expect.stringContaining('not held to the memory'),
      advice: expect.stringContaining('ConstrainRAMSpace=yes'),
    });
  });

  it('probeSlurm needs no scontrol', async () => {
    await withProgram('scontrol', 'exit 1', async () => {
      const probe = await probeSlurm();
      expect(probe).toMatchObject({ works: true });
      expect(probe.found).not.toContain('not held to the memory');
    });
  });
});

describe('Slurm engine whose controller did not tell its settings at the start', () => {
  let slurm: FakeSlurm;
  beforeEach(() => {
    slurm = createFakeSlurm();
  });
  afterEach(() => slurm.remove());

  it('starts no container as long as it does not know which socket to hide, and warns of memory later', async () => {
    slurm.fail('no-settings');
    const config = slurmConfigSchema.parse({ pollInterval: '50ms', recordGrace: '0s' });
    const rig = new EngineRig(() => createSlurmEngine(config, { storage: tmpdir() }), {});
    await rig.open();
    expect(rig.engine.features).not.toContain('unlimited-memory');
    const container = await rig.prepare({ command: ['x'] });
    await expect(rig.engine.launch(container.launch)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/where the socket of Munge is.*no answer/),
    });
    expect(slurm.calls('sbatch')).toEqual([]);
    slurm.mend('no-settings');
    await rig.engine.launch(container.launch);
    expect(rig.engine.features).toContain('unlimited-memory');
    await container.seen('running');
    const calls = slurm.calls('scontrol').length;
    await rig.launch({ command: ['x'] });
    expect(slurm.calls('scontrol')).toHaveLength(calls);
    await rig.close();
  });
});
