import type { SchedulerEvent } from '@sluice/run';

type Outcome = Extract<SchedulerEvent, { type: 'ended' }>['outcome'];

/** What the service knows of the container of a verdict. */
interface Facts {
  /** Undefined while it has not ended. */
  readonly phase: string | undefined;
  readonly isCreated: boolean;
  /** Its create request may still arrive. */
  readonly isUnderWay: boolean;
}

/** Whether the service really gave this verdict. */
export function isTrueVerdict(outcome: Outcome, { phase, isCreated, isUnderWay }: Facts): boolean {
  switch (outcome.result) {
    case 'succeeded':
      return phase === 'Succeeded';
    case 'canceled':
      // Cancelled before it could start, or by the service.
      return isCreated ? phase === 'Canceled' : !isUnderWay;
    case 'failed':
      // Every container that a scenario asks for can be created: no rejection is ever true.
      if (outcome.message.startsWith('the service rejected')) return false;
      if (outcome.message.startsWith('the ID ')) return !isCreated || phase === 'Vanished';
      if (outcome.message.startsWith('the service kept rejecting')) return !isCreated || phase === 'Vanished';
      if (outcome.message.startsWith('the container is lost')) return phase === 'Vanished';
      if (outcome.message.startsWith('the service no longer knows it')) return phase === 'Vanished';
      if (outcome.message.startsWith('could not publish')) return phase === 'Succeeded';
      if (/^could not (start on input|copy) /.test(outcome.message)) return !isCreated && !isUnderWay;
      if (outcome.message.startsWith('an earlier runner canceled it')) return phase === 'Canceled';
      return outcome.class === 'infrastructure' ? phase === 'Unknown' : phase === 'Failed';
  }
}
