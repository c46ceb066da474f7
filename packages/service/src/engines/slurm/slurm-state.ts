import type { End } from '../engine.ts';

/** What a job's state means for a container that is not known to have ended by its own record. */
export type SlurmMeaning = 'pending' | 'running' | 'exiting' | 'ended' | 'unknown';

/** Every state of Slurm 22.05's `squeue --help=states` and `job_state` table. */
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

/** A state that is not in the table is `unknown`: the job stays watched until its record or its absence decides. */
export function slurmMeaning(state: string): SlurmMeaning {
  return MEANINGS[state] ?? 'unknown';
}

/** The evidence about an ended job. */
export interface SlurmEvidence {
  /** Slurm's last known state, undefined when the job left the queue unseen. */
  readonly state: string | undefined;
  /** From the exit record that the job's script wrote. */
  readonly exitCode: number | undefined;
  /** We asked for the end. */
  readonly stopped: boolean;
}

/** Slurm ended these by its own decision: a record is only of how the command took the signal, and proves nothing. */
const ENDED_BY_SLURM: ReadonlySet<string> = new Set(['PREEMPTED', 'CANCELLED', 'TIMEOUT', 'DEADLINE', 'REVOKED']);

/** States in which the script's own record counts only when no signal from outside can have made it. */
const ENDED_BY_NODE: ReadonlySet<string> = new Set(['NODE_FAIL', 'BOOT_FAIL', 'LAUNCH_FAILED']);

/** How a container ended. The script's own record counts before Slurm's state, unless Slurm itself made the end. */
export function slurmEnd({ state, exitCode, stopped }: SlurmEvidence): End {
  if (stopped) return { kind: 'stopped' };
  if (state === 'OUT_OF_MEMORY') return { kind: 'exited', exitCode: exitCode ?? 137, outOfMemory: true };
  if (state === undefined || (!ENDED_BY_SLURM.has(state) && !ENDED_BY_NODE.has(state))) {
    if (exitCode !== undefined) return { kind: 'exited', exitCode };
  } else if (ENDED_BY_NODE.has(state) && exitCode !== undefined && exitCode < 128) {
    return { kind: 'exited', exitCode };
  }
  return {
    kind: 'fault',
    reason: state
      ? `Slurm ended the job as ${state} before its command did`
      : 'the job left the queue of Slurm without an exit record',
  };
}
