import type { EngineProbe } from '../engine-probe.ts';
import { createSlurmCommands } from './slurm-commands.ts';

/** Checks for `sluice doctor` whether Slurm responds; submits no job. */
export async function probeSlurm(): Promise<EngineProbe> {
  try {
    const nodes = await createSlurmCommands(undefined).run('sinfo', ['--noheader', '--format=%D %t']);
    return { engine: 'slurm', works: true, found: `nodes: ${nodes.trim().replaceAll('\n', ', ')}` };
  } catch (error) {
    const advice = 'on a machine of a Slurm cluster, install its client programs and slurm.conf';
    return { engine: 'slurm', works: false, found: (error as Error).message.split('\n')[0] ?? '', advice };
  }
}
