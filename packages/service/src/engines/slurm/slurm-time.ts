import type { JobRequest } from '@sluice/client';
import { EngineError } from '../engine.ts';

const MINUTE_MS = 60_000;
/** What a job needs beside its command: the image and the mounts before, and the end of a command that was stopped. */
const GRACE_MS = MINUTE_MS;

/** The longest that a job may run, in milliseconds; undefined where nothing limits it. */
export interface TimeLimits {
  /** `timeLimit` of the instance type or of the cluster. */
  readonly configured: number | undefined;
  /** Of the partition, as Slurm has told. */
  readonly ofPartition: number | undefined;
}

/**
 * The minutes of `--time`: the requested time with a grace period, rounded up, but no more than the limits; without a request,
 * what the configuration says. Undefined: Slurm's own default. Throws `EngineError` `REJECTED` for a required time beyond the
 * limits.
 */
export function timeLimitOf(time: JobRequest['time'], { configured, ofPartition }: TimeLimits): number | undefined {
  const most = configured === undefined ? undefined : Math.ceil(configured / MINUTE_MS);
  if (time === undefined) return most;
  // Slurm takes 0 minutes for no limit.
  const allowed = ofPartition === undefined ? Infinity : Math.max(1, Math.floor(ofPartition / MINUTE_MS));
  const limit = Math.min(most ?? Infinity, allowed);
  if (time.required && Math.ceil(time.ms / MINUTE_MS) > limit) {
    const isConfigured = most !== undefined && most <= limit;
    const whose = isConfigured ? "the service's configuration ('timeLimit')" : "Slurm's partition";
    const advice = 'use less time or another instance type, or ask the administrator of the service';
    throw new EngineError(
      'REJECTED',
      `could not request ${Math.ceil(time.ms / MINUTE_MS)} minutes from Slurm: ${whose} allows ${limit}; ${advice}`,
    );
  }
  return Math.min(limit, Math.ceil((time.ms + GRACE_MS) / MINUTE_MS));
}
