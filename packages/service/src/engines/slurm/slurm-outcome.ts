import { own } from '@sluice/client';
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
  return own(MEANINGS, state) ?? 'unknown';
}

/** The evidence about an ended job. */
export interface SlurmEvidence {
  /** Slurm's last known state, undefined when the job left the queue unseen. */
  readonly state: string | undefined;
  /** The exit record that the job's script wrote; `asked` when a signal had reached the script before. */
  readonly exit: { readonly exitCode: number; readonly asked: boolean } | undefined;
  /** We asked for the end. */
  readonly stopped: boolean;
}

/**
 * Slurm ended these by its own decision or a node's failure. A record is then often only of how the command took the
 * signal; it counts where no signal can have made it. Slurm may also be wrong: a controller that crashed and has
 * forgotten a start calls a job cancelled whose command came to its own end.
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

/** How a container ended. The script's own record counts before Slurm's state, unless Slurm itself made the end. */
export function slurmOutcome({ state, exit, stopped }: SlurmEvidence): End {
  if (stopped) return { kind: 'stopped' };
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

/** Slurm has not called it ended, or has said nothing of it at all. */
function isAlive(state: string | undefined): boolean {
  return state === undefined || ['pending', 'running', 'exiting'].includes(slurmMeaning(state));
}
