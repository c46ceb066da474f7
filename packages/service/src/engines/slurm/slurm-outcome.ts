import { own } from '@sluice/client';
import type { End } from '../engine.ts';

/** What a job's state means for a container without an exit record. */
export type SlurmMeaning = 'pending' | 'running' | 'exiting' | 'ended' | 'unknown';

/** Every state of `squeue --help=states` and the `job_state` table of Slurm 22.05. */
const MEANINGS: Readonly<Record<string, SlurmMeaning>> = {
  PENDING: 'pending',
  CONFIGURING: 'pending',
  REQUEUED: 'pending',
  REQUEUE_FED: 'pending',
  REQUEUE_HOLD: 'pending',
  SPECIAL_EXIT: 'pending',
  RESV_DEL_HOLD: 'pending',
  RUNNING: 'running',
  SUSPENDED: 'running',
  STOPPED: 'running',
  SIGNALING: 'running',
  RESIZING: 'running',
  STAGE_OUT: 'exiting',
  COMPLETING: 'exiting',
  COMPLETED: 'ended',
  FAILED: 'ended',
  CANCELLED: 'ended',
  TIMEOUT: 'ended',
  OUT_OF_MEMORY: 'ended',
  NODE_FAIL: 'ended',
  BOOT_FAIL: 'ended',
  LAUNCH_FAILED: 'ended',
  RECONFIG_FAIL: 'ended',
  POWER_UP_NODE: 'pending',
  PREEMPTED: 'ended',
  DEADLINE: 'ended',
  REVOKED: 'ended',
};

/**
 * The meaning of a state. States that are not in the table are `unknown`: the job is watched until its record or its absence
 * decides.
 */
export function slurmMeaning(state: string): SlurmMeaning {
  return own(MEANINGS, state) ?? 'unknown';
}

/** The evidence about an ended job. */
export interface SlurmEvidence {
  /** Slurm's last known state; undefined if the job was never seen in the queue. */
  readonly state: string | undefined;
  /** The exit record of the job's script; `asked` if the script received a signal before. */
  readonly exit: { readonly exitCode: number; readonly asked: boolean } | undefined;
  /** A stop was requested by the service. */
  readonly stopped: boolean;
  /** The job's script could not prepare the container, for this reason. */
  readonly refusal?: string | undefined;
}

/**
 * States of jobs that Slurm ended itself, or that ended with a node's failure. The exit record then usually shows only how
 * the command reacted to the signal; it counts if no signal can have caused it. Slurm's state may also be wrong: a
 * controller that crashed and lost a start reports the job as canceled even if its command ended normally.
 */
const ENDED_FROM_OUTSIDE: ReadonlySet<string> = new Set([
  'PREEMPTED',
  'CANCELLED',
  'TIMEOUT',
  'DEADLINE',
  'REVOKED',
  'NODE_FAIL',
  'BOOT_FAIL',
  'LAUNCH_FAILED',
]);

/**
 * How a container ended. The script's exit record takes precedence over Slurm's state, unless Slurm itself ended the job. A
 * refusal counts only without a signal: a signal also ends the programs that prepare the container.
 */
export function slurmOutcome({ state, exit, stopped, refusal }: SlurmEvidence): End {
  if (stopped) return { kind: 'stopped' };
  if (refusal && exit?.asked !== true) return { kind: 'refused', reason: refusal };
  if (state === 'OUT_OF_MEMORY') return { kind: 'exited', exitCode: exit?.exitCode ?? 137, outOfMemory: true };
  const isOwn = state === undefined || !ENDED_FROM_OUTSIDE.has(state) || (exit && !exit.asked && exit.exitCode < 128);
  if (exit && isOwn) return { kind: 'exited', exitCode: exit.exitCode };
  return {
    kind: 'fault',
    reason: isAlive(state)
      ? `the job left the queue of Slurm without an exit record${state ? `, last seen as ${state}` : ''}`
      : `Slurm ended the job as ${state} before its command did`,
  };
}

/** Slurm has not reported the job as ended, or has not reported it at all. */
function isAlive(state: string | undefined): boolean {
  return state === undefined || ['pending', 'running', 'exiting'].includes(slurmMeaning(state));
}
