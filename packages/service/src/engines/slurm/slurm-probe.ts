import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describeJob, readJobEnvironment } from '@sluice/host-system';
import type { EngineProbe } from '../engine-probe.ts';
import { exists } from '../exists.ts';
import { createSlurmCommands } from './slurm-commands.ts';
import { describeSlurmLimits, readSlurmAnswers } from './slurm-limits.ts';
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
    const answers = await readSlurmAnswers(slurm, userInfo().username);
    const job = readJobEnvironment(process.env);
    const limits = [
      ...(job === undefined ? [] : [`this is in ${describeJob(job)}; \`sluice run\` uses them without an option`]),
      ...describeSlurmLimits(answers),
      await describeRuntimes(process.env.PATH ?? ''),
    ];
    if (settings?.limitsMemory !== false) return { engine: 'slurm', works: true, found, limits };
    return { engine: 'slurm', works: true, found: `${found}; ${UNLIMITED_MEMORY}`, limits, advice: LIMIT_MEMORY };
  } catch (error) {
    const advice = 'on a machine of a Slurm cluster, install its client programs and slurm.conf';
    return { engine: 'slurm', works: false, found: (error as Error).message.split('\n')[0] ?? '', advice };
  }
}

/** What runs containers on the nodes, by the program and the value of `runtime`. */
const RUNTIME_PROGRAMS = { unshare: 'none', podman: 'podman', apptainer: 'apptainer', 'ch-run': 'charliecloud' };

/** Only a job could look for programs on the nodes. */
async function describeRuntimes(path: string): Promise<string> {
  const directories = path.split(':').filter(Boolean);
  const isHere = async (program: string) =>
    (await Promise.all(directories.map((directory) => exists(join(directory, program)).catch(() => false)))).includes(
      true,
    );
  const programs = Object.entries(RUNTIME_PROGRAMS);
  const here = await Promise.all(programs.map(([program]) => isHere(program)));
  const found = programs.filter((_, i) => here[i]).map(([program, runtime]) => `${program} (\`runtime: ${runtime}\`)`);
  const list = found.length === 0 ? 'none' : found.join(', ');
  return `programs for containers on this machine: ${list}; nodes may have others: srun sh -c 'command -v ${Object.keys(RUNTIME_PROGRAMS).join(' ')}'`;
}
