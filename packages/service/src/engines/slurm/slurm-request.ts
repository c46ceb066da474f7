import { parseDuration } from '@sluice/core';
import type { Launch } from '../engine.ts';
import type { SlurmPlacement } from './slurm-config.ts';

/** The job's name, derived from the key: a submission whose response was lost is found by it before another attempt. */
export function slurmJobName(key: string): string {
  return `sluice-${key}`;
}

/** The key of a job name, undefined for jobs that are not ours. */
export function keyOfJobName(name: string): string | undefined {
  return /^sluice-([a-z0-9-]+)$/.exec(name)?.[1];
}

/** The arguments of `sbatch`, which reads the job's script from its standard input. Free text is always part of one `--option=value` word. */
export function sbatchArguments(launch: Launch, options: SlurmPlacement): string[] {
  const { cores, memoryBytes, gpus } = launch.limits;
  return [
    '--parsable',
    `--job-name=${slurmJobName(launch.key)}`,
    `--comment=${launch.key}`,
    '--ntasks=1',
    '--nodes=1',
    `--cpus-per-task=${cores}`,
    `--mem=${Math.max(1, Math.floor(memoryBytes / 2 ** 20))}M`,
    ...(gpus > 0 ? [`--gres=gpu:${gpus}`] : []),
    ...(options.partition ? [`--partition=${options.partition}`] : []),
    ...(options.qos ? [`--qos=${options.qos}`] : []),
    ...(options.account ? [`--account=${options.account}`] : []),
    ...(options.timeLimit ? [`--time=${Math.ceil(parseDuration(options.timeLimit) / 60_000)}`] : []),
    // Each container is started only once: the runner decides about retries, not Slurm.
    '--no-requeue',
    // Any other value makes each node log the user in first to get the environment, which takes at least a second per job.
    '--export=ALL',
    `--chdir=${launch.directory}`,
    `--output=${launch.directory}/slurm.out`,
  ];
}

/** The job ID in the output of `sbatch --parsable` (`123` or `123;cluster`); undefined for any other output. */
export function parseJobId(stdout: string): string | undefined {
  return /^(\d+)(?:;\S+)?$/.exec(stdout.trim().split('\n').at(-1) ?? '')?.[1];
}

/** Whether a rejection of `sbatch` would repeat on every attempt. Unknown messages are treated as temporary. */
export function isPermanentRejection(stderr: string): boolean {
  return /invalid (partition|qos|account|feature|generic resource|user|time limit)|requested node configuration is not available|more processors requested than permitted|memory specification can not be satisfied|requested time limit is invalid|unrecognized option|access\/permission denied|batch script contains/i.test(
    stderr,
  );
}
