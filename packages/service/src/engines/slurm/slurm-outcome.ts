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
  /** The job's script found that the request cannot be met, for this reason. */
  readonly rejection?: string | undefined;
  /** The node could not set up the container, for this reason. */
  readonly fault?: string | undefined;
}

/**
 * States of jobs that Slurm ended with a signal. The exit record then usually shows only how the command reacted to it. Slurm
 * signals the processes of a job one after the other, so the command may have ended, and the script have recorded it, before
 * the script received the signal.
 */
const SIGNALED: ReadonlySet<string> = new Set(['PREEMPTED', 'CANCELLED', 'TIMEOUT', 'DEADLINE', 'REVOKED']);

/** States of jobs that needed more time than they may have: another attempt would need as much. */
const TIMED_OUT: ReadonlySet<string> = new Set(['TIMEOUT', 'DEADLINE']);

/** States of jobs that ended with a failure of a node. */
const NODE_FAILED: ReadonlySet<string> = new Set(['NODE_FAIL', 'BOOT_FAIL', 'LAUNCH_FAILED']);

/**
 * How a container ended. The script's exit record takes precedence over Slurm's state, unless Slurm itself ended the job. A
 * rejection or a fault counts only without a signal: a signal also ends the programs that prepare the container.
 */
export function slurmOutcome({ state, exit, stopped, rejection, fault }: SlurmEvidence): End {
  if (stopped) return { kind: 'stopped' };
  if (exit?.asked !== true) {
    if (rejection) return { kind: 'rejected', reason: rejection };
    if (fault) return { kind: 'fault', reason: fault };
  }
  if (state === 'OUT_OF_MEMORY') return { kind: 'exited', exitCode: exit?.exitCode ?? 137, outOfMemory: true };
  if (exit && isOwnEnd(exit, state)) return { kind: 'exited', exitCode: exit.exitCode };
  if (state !== undefined && TIMED_OUT.has(state))
    return { kind: 'exited', exitCode: exit?.exitCode ?? 143, timedOut: true };
  return {
    kind: 'fault',
    reason: isAlive(state)
      ? `the job left the queue of Slurm without an exit record${state ? `, last seen as ${state}` : ''}`
      : `Slurm ended the job as ${state} before its command did`,
  };
}

/**
 * Whether the command came to this end by itself. Slurm may call a job canceled whose command ended normally: a controller
 * that crashed has forgotten its start. A failure is believed then, but no success: repeating a command loses time, and
 * taking an interrupted one for complete loses data.
 */
function isOwnEnd(exit: NonNullable<SlurmEvidence['exit']>, state: string | undefined): boolean {
  if (state === undefined || !(SIGNALED.has(state) || NODE_FAILED.has(state))) return true;
  if (exit.asked || exit.exitCode >= 128) return false;
  return NODE_FAILED.has(state) || exit.exitCode !== 0;
}

/** Slurm has not reported the job as ended, or has not reported it at all. */
function isAlive(state: string | undefined): boolean {
  return state === undefined || ['pending', 'running', 'exiting'].includes(slurmMeaning(state));
}
