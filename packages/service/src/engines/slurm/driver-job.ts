import { isSbatchVariable } from '@sluice/host-system';
import { EngineError } from '../engine.ts';
import { shellQuote as q } from '../shell-quote.ts';
import { STOP_SIGNAL, WAIT } from './script-lines.ts';
import { createSlurmCommands, SlurmError } from './slurm-commands.ts';
import { parseJobId, plainText } from './slurm-request.ts';
import { parseUserOptions } from './user-options.ts';

/** A job that executes a run, which submits further jobs for its containers. */
export interface DriverJob {
  /** For people. */
  readonly name: string;
  /** The program and its arguments, which are on the same paths on the nodes. It continues the run each time. */
  readonly command: readonly string[];
  /** Absolute, on the file system that the nodes share. */
  readonly directory: string;
  /** Absolute; the output of every start is appended. */
  readonly logPath: string;
  /** Unchecked options of the engine: partition, account, QOS, reservation, mail and time limit apply to this job, too. */
  readonly options: Readonly<Record<string, unknown>>;
  /**
   * Which the job gets, without what Slurm has set in a job from which it is submitted, and without variables of `sbatch`
   * that the engine does not use.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Slurm may send the signal up to a minute late, and suspending takes some seconds. */
const NOTICE_S = 120;
const MINUTE_MS = 60_000;
/** A shorter limit would leave no time for work between a start and the notice. */
const LEAST_MINUTES = 10;
/** The exit code of a command that has suspended its run. */
const SUSPENDED = 75;

/**
 * Submits the job and returns its ID. Slurm puts it into the queue again when its node fails; the job itself does so shortly
 * before its time limit. `isTest` submits nothing. Throws an error for the user if Slurm rejects the job.
 */
export async function submitDriverJob(job: DriverJob, { isTest }: { readonly isTest: boolean }): Promise<string> {
  const { confPath } = parseUserOptions(job.options);
  const env = Object.fromEntries(
    Object.entries(job.env).flatMap(([name, value]) =>
      value === undefined || (/^(SLURM|SBATCH)_/.test(name) && name !== 'SLURM_CONF') ? [] : [[name, value]],
    ),
  );
  const args = [...(isTest ? ['--test-only'] : []), ...driverArguments(job)];
  try {
    const stdout = await createSlurmCommands(confPath).run('sbatch', args, { env, input: driverScript(job) });
    const jobId = parseJobId(stdout);
    if (jobId === undefined && !isTest) throw new SlurmError(`sbatch printed no job ID: ${stdout.slice(0, 200)}`);
    return jobId ?? '';
  } catch (error) {
    if (error instanceof SlurmError || error instanceof EngineError) throw new Error(error.message, { cause: error });
    throw error;
  }
}

/** The arguments of `sbatch`. */
export function driverArguments({ name, directory, logPath, options }: DriverJob): string[] {
  const { partition, account, qos, reservation, mail, timeLimitMs } = parseUserOptions(options);
  const minutes = timeLimitMs === undefined ? undefined : Math.max(LEAST_MINUTES, Math.ceil(timeLimitMs / MINUTE_MS));
  const passed = Object.entries({ partition, account, qos, reservation, 'mail-user': mail, time: minutes });
  return [
    '--parsable',
    `--job-name=${plainText(name)}`,
    ...['--ntasks=1', '--nodes=1', '--cpus-per-task=1', '--mem=2000M'],
    ...passed.flatMap(([option, value]) => (value === undefined ? [] : [`--${option}=${value}`])),
    ...(mail === undefined ? [] : ['--mail-type=END,FAIL']),
    ...['--requeue', '--open-mode=append', `--signal=B:${STOP_SIGNAL}@${NOTICE_S}`, '--export=ALL'],
    `--chdir=${directory}`,
    `--output=${logPath}`,
  ];
}

/**
 * The script: it passes on SIGTERM, and at the notice before the time limit suspends the run to continue it in the queue. It
 * sets the variables of `sbatch`, which would otherwise be options of the job itself.
 */
export function driverScript({ command, env }: Pick<DriverJob, 'command' | 'env'>): string {
  const variables = Object.entries(env).flatMap(([name, value]) =>
    isSbatchVariable(name) && value !== undefined ? [`export ${name}=${q(value)}\n`] : [],
  );
  return `#!/bin/sh
${variables.join('')}${command.map(q).join(' ')} &
pid=$! again=false
trap 'kill -TERM $pid' TERM
trap 'again=true; kill -TERM $pid' ${STOP_SIGNAL}
${WAIT}if $again && [ $code = ${SUSPENDED} ]; then
  exec scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
`;
}
