import type { Container } from '@sluice/client';
import type { Outcome } from '../scheduler/model/event.ts';

/**
 * The outcome that a terminal phase means: the phase decides; the state's text distinguishes the exit code and an
 * out-of-memory kill. A `Canceled` that this run did not request is a decision of another user, and not retried.
 */
export function judgeTerminalPhase(container: Pick<Container, 'phase' | 'state'>): Outcome | undefined {
  const state = container.state ?? '';
  switch (container.phase) {
    case 'Succeeded':
      return { result: 'succeeded' };
    case 'Failed':
      return judgeFailure(state);
    case 'Unknown':
      return { result: 'failed', class: 'infrastructure', message: state || 'the service does not know how it ended' };
    case 'Canceled':
      return { result: 'canceled' };
    default:
      return undefined;
  }
}

function judgeFailure(state: string): Outcome {
  const code = /\bexit(?:ed)?(?: with)?(?: code)?[ :]+(\d{1,3})\b/i.exec(state)?.[1];
  const isOutOfMemory = /out of memory|\boom\b|oomkilled/i.test(state);
  return {
    result: 'failed',
    class: isOutOfMemory ? 'oom' : 'failed',
    ...(code !== undefined && { exitCode: Number(code) }),
    message: state || 'it ended with an exit code that is not 0',
  };
}
