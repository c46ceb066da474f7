import type { EngineProbe } from '../engine-probe.ts';
import { createSlurmCommands } from './slurm-commands.ts';
import { readSlurmSettings } from './slurm-settings.ts';

const UNLIMITED_MEMORY = 'jobs are not held to the memory that they request';
const LIMIT_MEMORY = "set 'TaskPlugin=task/cgroup' in slurm.conf and 'ConstrainRAMSpace=yes' in cgroup.conf";

/** Checks for `sluice doctor` whether Slurm responds; submits no job. */
export async function probeSlurm(): Promise<EngineProbe> {
  try {
    const slurm = createSlurmCommands(undefined);
    const nodes = await slurm.run('sinfo', ['--noheader', '--format=%D %t']);
    const found = `nodes: ${nodes.trim().replaceAll('\n', ', ')}`;
    const settings = await readSlurmSettings(slurm).catch(() => undefined);
    if (settings?.limitsMemory !== false) return { engine: 'slurm', works: true, found };
    return { engine: 'slurm', works: true, found: `${found}; ${UNLIMITED_MEMORY}`, advice: LIMIT_MEMORY };
  } catch (error) {
    const advice = 'on a machine of a Slurm cluster, install its client programs and slurm.conf';
    return { engine: 'slurm', works: false, found: (error as Error).message.split('\n')[0] ?? '', advice };
  }
}
