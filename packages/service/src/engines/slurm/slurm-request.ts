import type { Launch } from '../engine.ts';
import { tasksOf } from '../tasks-of.ts';
import type { SlurmPlacement } from './slurm-config.ts';
import { JOB_OUTPUT } from './slurm-script.ts';

/** Slurm accepts names of 1,024 bytes, and its database 255; longer ones than this are of no use in a list. */
const NAME_LENGTH = 120;
/** What Slurm accepts of a comment. */
const COMMENT_LENGTH = 1024;

/** The job's name, for people: a job is found by its key (`SlurmJob`). Never changes for a launch. */
export function slurmJobName({ key, job }: Pick<Launch, 'key' | 'job'>): string {
  const name = plainText(job?.name ?? `sluice-${key}`);
  if (name.length <= NAME_LENGTH) return name;
  const half = NAME_LENGTH / 2;
  return `${name.slice(0, half - 1)}~${name.slice(-half)}`;
}

/** Text that every program of Slurm prints as it is, and that every database accepts. */
export function plainText(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_.,:=+@/ -]/g, '_');
}

/** Options that `sbatch` has under the same names. */
const PASSED = [
  'gres',
  'partition',
  'qos',
  'account',
  'constraint',
  'licenses',
  'reservation',
  'nodelist',
  'exclude',
] as const;

/** The arguments of `sbatch`, which reads the job's script from its standard input. Free text is always part of one `--option=value` word. */
export function sbatchArguments(
  launch: Launch,
  options: Omit<SlurmPlacement, 'timeLimit'> & {
    readonly minutes?: number | undefined;
    readonly isWholeNode?: boolean;
  },
): string[] {
  const { cores, memoryBytes } = launch.limits;
  const { nodes, perNode, count } = tasksOf(launch);
  return [
    '--parsable',
    `--job-name=${slurmJobName(launch)}`,
    `--comment=${plainText(launch.job?.comment ?? launch.key).slice(0, COMMENT_LENGTH)}`,
    `--ntasks=${count}`,
    `--nodes=${nodes}`,
    ...(count > 1 ? [`--ntasks-per-node=${perNode}`] : []),
    ...(options.isWholeNode
      ? ['--mem=0']
      : [`--cpus-per-task=${cores / count}`, `--mem=${Math.max(1, Math.floor(memoryBytes / nodes / 2 ** 20))}M`]),
    ...PASSED.flatMap((name) => (options[name] ? [`--${name}=${options[name]}`] : [])),
    ...(options.exclusive || options.isWholeNode ? ['--exclusive'] : []),
    ...(options.mail ? [`--mail-user=${options.mail}`, '--mail-type=END,FAIL'] : []),
    ...(options.minutes === undefined ? [] : [`--time=${options.minutes}`]),
    // Each container is started only once: the runner decides about retries, not Slurm.
    '--no-requeue',
    // Any other value makes each node log the user in first to get the environment, which takes at least a second per job.
    '--export=ALL',
    `--chdir=${launch.directory}`,
    `--output=${launch.directory}/${JOB_OUTPUT}`,
  ];
}

/** The job ID in the output of `sbatch --parsable` (`123` or `123;cluster`); undefined for any other output. */
export function parseJobId(stdout: string): string | undefined {
  return /^(\d+)(?:;\S+)?$/.exec(stdout.trim().split('\n').at(-1) ?? '')?.[1];
}

/** Whether a rejection of `sbatch` would repeat on every attempt. Unknown messages are treated as temporary. */
export function isPermanentRejection(stderr: string): boolean {
  return /invalid (partition|qos|account|feature|generic resource|user|time limit|node name|number of nodes|license)|reservation is invalid|access denied to requested reservation|requested node configuration is not available|more processors requested than permitted|memory specification can not be satisfied|requested time limit is invalid|unrecognized option|access\/permission denied|batch script contains/i.test(
    stderr,
  );
}
