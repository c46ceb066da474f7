import { FEATURES, type Feature, JOB_LABEL, type JobRequest } from '@sluice/client';
import type { AttemptName } from '@sluice/run';

/** As much as a service accepts. */
const LONGEST = 4096;

/** What an attempt requests from the system behind the engine, as a label; empty if the cluster announces nothing of it. */
export function describeJob(
  { runId, step, cell, attempt }: AttemptName,
  { pipeline, announces }: { readonly pipeline: string; readonly announces: (feature: Feature) => boolean },
): Record<string, string> {
  const address = cell === '' ? step : `${step}/${cell}`;
  const job: JobRequest = {
    ...(announces(FEATURES.jobNames) && {
      name: `${pipeline}/${address}`.slice(0, LONGEST),
      comment: `run=${runId} attempt=${attempt} cell=${address}`.slice(0, LONGEST),
    }),
  };
  return Object.keys(job).length === 0 ? {} : { [JOB_LABEL]: JSON.stringify(job) };
}
