/**
 * The life of a container.
 *
 *   Creating → Pending → Running → Exiting → Succeeded | Failed | Unknown
 *       └─────────┴─────────┴────────┴→ Canceling → Canceled
 *
 * A phase may be left out, none is ever entered again, and the last four are final. A trigger that has no entry
 * changes nothing: engines may report twice, and late.
 */
import type { KnownContainerPhase } from '@sluice/client';

export type PhaseTrigger =
  /** The row is durable and the container waits for capacity, or for the engine. */
  | 'queued'
  | 'running'
  | 'exiting'
  /** Ended by itself with exit code 0. */
  | 'succeeded'
  /** Ended by itself otherwise, or could not be started for a reason of its own. */
  | 'failed'
  /** The system below failed, or nothing says how it ended. */
  | 'fault'
  /** Ended because the service had it stopped. */
  | 'stopped'
  /** The engine proves that it was never started. */
  | 'absent'
  /** Cancel, where the engine may have it already. */
  | 'cancel'
  /** Cancel, where the engine was never asked to launch it. */
  | 'withdraw';

type Moves = Partial<Record<PhaseTrigger, KnownContainerPhase>>;

const ENDS: Moves = { succeeded: 'Succeeded', failed: 'Failed', fault: 'Unknown', stopped: 'Unknown' };
const BEFORE_RUNNING: Moves = {
  ...ENDS,
  running: 'Running',
  exiting: 'Exiting',
  cancel: 'Canceling',
  withdraw: 'Canceled',
};

const PHASE_TABLE: Readonly<Record<KnownContainerPhase, Moves>> = {
  Creating: { ...BEFORE_RUNNING, queued: 'Pending', absent: 'Pending' },
  Pending: { ...BEFORE_RUNNING, absent: 'Pending' },
  Running: { ...ENDS, exiting: 'Exiting', cancel: 'Canceling', absent: 'Unknown' },
  Exiting: { ...ENDS, cancel: 'Canceling', absent: 'Unknown' },
  // However it ended once it was being canceled, the caller's wish was fulfilled; `state` tells the rest.
  Canceling: { succeeded: 'Canceled', failed: 'Canceled', fault: 'Canceled', stopped: 'Canceled', absent: 'Canceled' },
  Succeeded: {},
  Failed: {},
  Unknown: {},
  Canceled: {},
};

/** The phase after `trigger`, or undefined where it changes nothing. */
export function nextPhase(phase: KnownContainerPhase, trigger: PhaseTrigger): KnownContainerPhase | undefined {
  return PHASE_TABLE[phase][trigger];
}
