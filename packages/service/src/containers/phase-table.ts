/**
 * The life of a container.
 *
 *   Creating → Pending → Running → Exiting → Succeeded | Failed | Unknown
 *       └─────────┴─────────┴────────┴→ Canceling → Canceled
 *
 * A phase may be skipped, none is entered again, and the last four are final. A trigger without an entry has no effect:
 * engines may report repeatedly and late.
 */
import type { KnownContainerPhase } from '@sluice/client';

/** What can change the phase of a container. */
export type PhaseTrigger =
  /** The row is durable, and the container waits for capacity or for the engine. */
  | 'queued'
  | 'running'
  | 'exiting'
  /** Ended by itself with exit code 0. */
  | 'succeeded'
  /** Ended by itself otherwise, or could not be started because of its spec. */
  | 'failed'
  /** The engine or the machine failed, or it is unknown how it ended. */
  | 'fault'
  /** Ended because the service had it stopped. */
  | 'stopped'
  /** The engine proves that it was never started. */
  | 'absent'
  /** Canceled after it may have been submitted to the engine. */
  | 'cancel'
  /** Canceled before it was submitted to the engine. */
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
  // The cancellation succeeded, however the container ended; `state` has the details.
  Canceling: { succeeded: 'Canceled', failed: 'Canceled', fault: 'Canceled', stopped: 'Canceled', absent: 'Canceled' },
  Succeeded: {},
  Failed: {},
  Unknown: {},
  Canceled: {},
};

/** The phase after `trigger`; undefined if it has no effect. */
export function nextPhase(phase: KnownContainerPhase, trigger: PhaseTrigger): KnownContainerPhase | undefined {
  return PHASE_TABLE[phase][trigger];
}
