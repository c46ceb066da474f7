import { type Clock, type ControlListener, isLate, LATE } from '@sluice/home';
import type { BootTime } from '@sluice/run';
import type { RunHandle } from './run-options.ts';

/** What another process may request from the runner of a run, as one line of JSON. */
export type ControlRequest =
  | { readonly verb: 'cancel'; readonly by: string }
  | { readonly verb: 'suspend' }
  | { readonly verb: 'approve'; readonly step: string; readonly approved: boolean; readonly by: string };

/** A request as it is sent. */
export type SentRequest = ControlRequest & {
  /** It has no effect afterward. Absent: the sender has no clock that cannot be set. */
  readonly before?: BootTime;
};

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
    listener(line) {
      if (!handle) return RESUMING;
      const request = JSON.parse(line) as SentRequest;
      if (isLate(request.before, clock)) return LATE;
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
        default:
          // From a newer version; confusing it with another request could end the run.
          return `this runner does not know what ${JSON.stringify(request)} asks for`;
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
