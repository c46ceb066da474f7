import { describe, expect, it } from 'vitest';
import { createSlurmCommands } from '../../../src/engines/slurm/slurm-commands.ts';
import { probeSlurm } from '../../../src/engines/slurm/slurm-probe.ts';
import { parseSlurmSettings, readSlurmSettings } from '../../../src/engines/slurm/slurm-settings.ts';
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

  it('all settings are undefined if scontrol does not work', async () => {
    await withProgram('scontrol', 'exit 1', async () => {
      const settings = await readSlurmSettings(createSlurmCommands(undefined));
      expect(settings).toEqual({ limitsMemory: undefined, mungeSocket: undefined });
    });
  });
});
