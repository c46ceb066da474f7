import type { Container } from '@sluice/client';
import type { FailureClass } from '@sluice/core';
import type { Outcome } from '@sluice/run';

/**
 * The outcome that a terminal phase means: the phase decides; the state's text distinguishes the exit code, an
 * out-of-memory kill, and a time limit of the service. A `Canceled` that this run did not request is a decision of another user, and not retried.
 */
export function judgeTerminalPhase(container: Pick<Container, 'phase' | 'state'>): Outcome | undefined {
  const state = container.state ?? '';
  switch (container.phase) {
    case 'Succeeded':
      return SUCCEEDED;
    case 'Failed':
      return judgeFailure(state);
    case 'Unknown':
      return judgeUnknown(state);
    case 'Canceled':
      return { result: 'canceled' };
    default:
      return undefined;
  }
}

/** One for all attempts: a run may keep hundreds of thousands. */
const SUCCEEDED: Outcome = Object.freeze({ result: 'succeeded' });

/** Only the exact words of our service mean the end of an allocation. */
function judgeUnknown(state: string): Outcome {
  const message = state || 'the service does not know how it ended';
  const isFree = /^allocation ended\b/.test(state);
  return { result: 'failed', class: 'infrastructure', message, ...(isFree && { isFree }) };
}

function judgeFailure(state: string): Outcome {
  const code = /\bexit(?:ed)?(?: with)?(?: code)?[ :]+(\d{1,3})\b/i.exec(state)?.[1];
  return {
    result: 'failed',
    class: classOf(state),
    ...(code !== undefined && { exitCode: Number(code) }),
    message: state || 'it ended with an exit code that is not 0',
  };
}

/**
 * Only the exact words of our service mean a time limit: other services report other things that timed out, such as a pull.
 * Only the first words mean a lack of memory: a rejection may quote a command, such as `oom-test`.
 */
function classOf(state: string): FailureClass {
  if (/^time limit exceeded\b/.test(state)) return 'timeout';
  return /^(?:out of memory|oom|oomkilled|oom[- ]killed)(?![\w-])/i.test(state) ? 'oom' : 'failed';
}
