import type { Ref } from '@sluice/client';
import { containerId } from '@sluice/home';
import { type AttemptName, type CancelReason, clusterOfAttempt, scopeOn } from '@sluice/run';
import type { RunSession } from './run-session.ts';

/** Consecutive checks that did not find the container. */
export interface Missing {
  /** When the last of them was. */
  readonly last: number;
  /**
   * Milliseconds that they span, counted in steps of at most `LONGEST_STEP_MS`, so that a jump of the clock does not
   * count as minutes of checking.
   */
  readonly lasted: number;
  /**
   * The result of the last check: nothing; nothing, by a reply that a gateway may have written; or another, ended
   * container under the same ID.
   */
  readonly found: 'nothing' | 'page' | 'another';
  readonly count: number;
}

/** An attempt whose container exists, or may exist. */
export interface Attempt {
  readonly at: { readonly step: number; readonly cell: number; readonly attempt: number };
  readonly name: AttemptName;
  readonly ref: Ref;
  /** As the service wrote it in its last reply with labels, or else in its first reply. */
  createTime?: string | undefined;
  /** The service has confirmed that the container exists. */
  confirmed: boolean;
  /** `running` has been posted. */
  ran: boolean;
  /** `pulling` has been posted. */
  pulling?: boolean;
  /** Its end or postponement has been posted: nothing more is posted about it. */
  closed: boolean;
  /** A check is in flight; `again`: something has changed meanwhile. */
  checking?: 'once' | 'again';
  /** The last `state` text that was reported. */
  reportedState?: string;
  /** When it was first seen: polling adapts to the age. */
  since: number;
  /** Checks that did not find it since it was last found. */
  missing?: Missing;
  cancel?: CancelReason;
  /** Called when `cancel` is set. */
  onCancel?: () => void;
  /** The service hinted at a change before the container was confirmed. */
  hinted?: boolean;
}

/** Creates the attempt that a command names. Its ID and its place do not depend on this process. */
export function createAttempt(session: RunSession, at: Attempt['at']): Attempt {
  const name: AttemptName = {
    runId: session.runId,
    step: session.plan.steps[at.step]!.step.name,
    cell: session.facts.cells[at.step]?.[at.cell]?.key ?? '',
    attempt: at.attempt,
  };
  const { clusterID, accountID } = scopeOn(session.facts, clusterOfAttempt(session.facts, at));
  return {
    at: { step: at.step, cell: at.cell, attempt: at.attempt },
    name,
    ref: { clusterID, accountID, id: containerId(name) },
    confirmed: false,
    ran: false,
    closed: false,
    since: session.clock.now(),
  };
}

/** Key of an attempt's container, unique among all clusters and accounts. */
export function refKey(ref: { readonly clusterID: string; readonly accountID: string; readonly id: string }): string {
  return `${ref.clusterID}/${ref.accountID}/${ref.id}`;
}
