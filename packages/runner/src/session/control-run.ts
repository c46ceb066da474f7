import { type Clock, type ControlListener, isLate, LATE } from '@sluice/home';
import { parseControlRequest } from './control-request.ts';
import type { RunHandle } from './run-options.ts';

/** The reply of a process that has claimed a run and does not execute it yet. */
export const RESUMING = 'the run is being resumed; try again';

/**
 * Passes the requests of other processes to a run's handle, as soon as it is attached. Replies with `ok` or a reason.
 */
export function controlRun(clock: Pick<Clock, 'boot'>): {
  readonly listener: ControlListener;
  attach(handle: RunHandle): void;
} {
  let handle: RunHandle | undefined;
  return {
    attach(made) {
      handle = made;
    },
    listener(line, how) {
      if (!handle) return RESUMING;
      const request = parseControlRequest(line);
      // Confusing it with another request could end the run.
      if (request === undefined) return `this runner does not know what ${JSON.stringify(line)} asks for`;
      if (how?.isAwaited !== true && isLate(request.before, clock)) return LATE;
      switch (request.verb) {
        case 'approve':
          return handle.approve(request.step, request)
            ? confirm(handle)
            : `step ${request.step} does not wait for approval`;
        case 'cancel':
          handle.cancel(request.by);
          return confirm(handle);
        case 'suspend':
          void handle.suspend();
          return 'ok';
      }
    },
  };
}

/** Replies when the request is durable. An empty reply: this process is leaving the run, and has not handled the request. */
async function confirm(handle: RunHandle): Promise<string> {
  try {
    return (await handle.recorded()) ? 'ok' : '';
  } catch (error) {
    return `it is not known whether the request was recorded: ${(error as Error).message}`;
  }
}
