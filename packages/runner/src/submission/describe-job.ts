import { FEATURES, type Feature, JOB_LABEL, type JobRequest, LONGEST_JOB_MS } from '@sluice/client';
import type { DockerOptions, Resources, SlurmOptions, Step } from '@sluice/core';
import type { AttemptName } from '@sluice/run';

/** As much as a service accepts. */
const LONGEST = 4096;

/** What describes a job in addition to the attempt's name. */
interface JobSource {
  readonly pipeline: string;
  /** The resources of this attempt, and the `timeout` of its cell. */
  readonly limits: { readonly resources: readonly (Resources | undefined)[]; readonly timeoutMs?: number | undefined };
  /** How long it will probably run, in milliseconds. */
  readonly expectedMs?: number | undefined;
  /** How long a pull may take at most; undefined for a container without an image, and without a limit. */
  readonly pullTimeMs?: number | undefined;
  /** Of a step on several nodes, for which the cluster has the feature. */
  readonly tasks?: Step['tasks'];
  /** The options of the step. */
  readonly docker?: DockerOptions | undefined;
  readonly slurm?: SlurmOptions | undefined;
  /** Whether the cluster does. */
  readonly announces: (feature: Feature) => boolean;
}

/** What an attempt requests from the system behind the engine, as a label; empty if the cluster announces nothing of it. */
export function describeJob(
  { runId, step, cell, attempt }: AttemptName,
  { pipeline, limits, expectedMs, tasks, docker, pullTimeMs, slurm, announces }: JobSource,
): Record<string, string> {
  const address = cell === '' ? step : `${step}/${cell}`;
  const job: JobRequest = {
    ...(announces(FEATURES.jobNames) && {
      name: `${pipeline}/${address}`.slice(0, LONGEST),
      comment: `run=${runId} attempt=${attempt} cell=${address}`.slice(0, LONGEST),
    }),
    ...(announces(FEATURES.timeLimits) && describeTime(limits)),
    ...(expectedMs !== undefined &&
      announces(FEATURES.expectedDurations) && {
        duration: Math.min(Math.max(1, Math.ceil(expectedMs)), LONGEST_JOB_MS),
      }),
    ...(pullTimeMs !== undefined &&
      announces(FEATURES.pullTimes) && { pullTime: Math.min(Math.ceil(pullTimeMs), LONGEST_JOB_MS) }),
    ...(tasks && { tasks }),
    ...(docker && announces(FEATURES.dockerOptions) && { docker: describeDocker(docker) }),
    ...(slurm && announces(FEATURES.slurmOptions) && { slurm }),
  };
  return Object.keys(job).length === 0 ? {} : { [JOB_LABEL]: JSON.stringify(job) };
}

/** The `time` of the resources is required; a `timeout` only bounds how long it can run. */
function describeTime({ resources, timeoutMs }: JobSource['limits']): Pick<JobRequest, 'time'> {
  const timeMs = resources.find((one) => one?.timeMs !== undefined)?.timeMs;
  const ms = timeMs ?? timeoutMs;
  if (ms === undefined) return {};
  return { time: { ms: Math.min(Math.ceil(ms), LONGEST_JOB_MS), required: timeMs !== undefined } };
}

function describeDocker({ shmSizeBytes, ...options }: DockerOptions): NonNullable<JobRequest['docker']> {
  return { ...(shmSizeBytes !== undefined && { shmSize: shmSizeBytes }), ...options };
}
