import type { Ref } from '@sluice/client';
import { type AttemptName, containerId } from '../identity/container-id.ts';
import { clusterOfAttempt, scopeOn } from '../record/place-of.ts';
import type { CancelReason } from '../scheduler/model/command.ts';
import type { RunSession } from './run-session.ts';

/** Looks that found nothing since the last that found the container. */
export interface Missing {
  /** When the last of them was. */
  readonly last: number;
  /** Milliseconds that they span, in steps of at most `LONGEST_STEP_MS`: a clock that jumps is no minute of looking. */
  readonly lasted: number;
  /**
   * What the last look found: nothing; nothing, by a reply that a gateway may have written; or another container under the
   * same ID, which has ended.
   */
  readonly found: 'nothing' | 'page' | 'another';
  readonly count: number;
}

/** An attempt whose container exists, or may exist. */
export interface Attempt {
  readonly at: { readonly step: number; readonly cell: number; readonly attempt: number };
  readonly name: AttemptName;
  readonly ref: Ref;
  /** As the service wrote it when it last showed the container with its labels, or else at first. */
  createTime?: string | undefined;
  /** The service has confirmed that the container is there. */
  confirmed: boolean;
  /** `running` has been posted. */
  ran: boolean;
  /** Its end has been posted: nothing more is said about it. */
  over: boolean;
  /** Last `state` text that was reported. */
  said?: string;
  /** When it was first seen, for the age that polling goes by. */
  since: number;
  /** Looks that found nothing since the last that found it. */
  missing?: Missing;
  cancel?: CancelReason;
  /** Hears of `cancel`. */
  onCancel?: () => void;
  /** The service hinted at a change before the container was confirmed. */
  hinted?: boolean;
}

export function createAttempt(session: RunSession, at: Attempt['at']): Attempt {
  const name: AttemptName = {
    runId: session.runId,
    step: session.plan.steps[at.step]!.step.name,
    cell: session.facts.cells[at.step]?.[at.cell]?.key ?? '',
    attempt: at.attempt,
  };
  return {
    at: { step: at.step, cell: at.cell, attempt: at.attempt },
    name,
    ref: { ...scopeOn(session.facts, clusterOfAttempt(session.facts, at)), id: containerId(name) },
    confirmed: false,
    ran: false,
    over: false,
    since: session.clock.now(),
  };
}

/** Key of an attempt's container among all clusters and accounts. */
export function refKey(ref: { readonly clusterID: string; readonly accountID: string; readonly id: string }): string {
  return `${ref.clusterID}/${ref.accountID}/${ref.id}`;
}
