import type { Launch } from '../engine.ts';
import type { SlurmPlacement } from './slurm-config.ts';
import { JOB_SCRIPT } from './slurm-script.ts';

/** Job names carry the key, so that a submission whose answer was lost is found before any second one. */
export function slurmJobName(key: string): string {
  return `sluice-${key}`;
}

/** The key of a job name, undefined for jobs that are not ours. */
export function keyOfJobName(name: string): string | undefined {
  return /^sluice-([a-z0-9-]+)$/.exec(name)?.[1];
}

/** The arguments of `sbatch` for a script in a file. Everything that is free text goes in as one `--option=value` word. */
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
    ...(options.timeLimitMinutes ? [`--time=${options.timeLimitMinutes}`] : []),
    // A container is started once: what Slurm would run again, the runner decides to run again, as a new attempt.
    '--no-requeue',
    // Anything but ALL makes each node log the user in first, for that user's environment: a second and more per job.
    '--export=ALL',
    `--chdir=${launch.directory}`,
    `--output=${launch.directory}/slurm.out`,
    `${launch.directory}/${JOB_SCRIPT}`,
  ];
}

/** The job number in the answer of `sbatch --parsable` (`123` or `123;cluster`), undefined for anything else. */
export function parseJobID(stdout: string): string | undefined {
  return /^(\d+)(?:;\S+)?$/.exec(stdout.trim().split('\n').at(-1) ?? '')?.[1];
}

/** Whether a refusal of `sbatch` will be the same next time. What is not known as such is tried again. */
export function isPermanentRefusal(stderr: string): boolean {
  return /invalid (partition|qos|account|feature|generic resource|user|time limit)|requested node configuration is not available|more processors requested than permitted|memory specification can not be satisfied|requested time limit is invalid|unrecognized option|access\/permission denied|batch script contains/i.test(
    stderr,
  );
}
