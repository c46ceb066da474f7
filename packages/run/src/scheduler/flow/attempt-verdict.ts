import type { CancelReason } from '../model/command.ts';
import type { Outcome } from '../model/event.ts';

/**
 * The verdict of an attempt whose cancellation was requested for the reason `asked`. A success stands: the container
 * finished first. Otherwise the reason for the cancellation decides, because a process that is stopped may end with any
 * exit code.
 */
export function attemptVerdict(outcome: Outcome, asked: CancelReason | undefined): Outcome {
  if (asked === undefined || outcome.result === 'succeeded') return outcome;
  switch (asked) {
    case 'timeout':
      return timedOut('it ran longer than its timeout', false);
    case 'queueTimeout':
      return timedOut('it was not started within its queue timeout', false);
    case 'pullTimeout':
      return timedOut('its image was not pulled within its timeout', false);
    case 'notReady':
      return timedOut('it was not ready within its limit', false);
    case 'deadline':
      return timedOut('its deadline has passed', true);
    case 'runTimeout':
      return timedOut('the timeout of the run has passed', true);
    case 'canceled':
      return { result: 'canceled' };
    case 'noLongerNeeded':
      return { result: 'succeeded' };
  }
}

function timedOut(message: string, permanent: boolean): Outcome {
  return { result: 'failed', class: 'timeout', message, permanent };
}
