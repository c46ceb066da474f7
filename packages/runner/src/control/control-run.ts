import type { ControlListener } from '../journal/disk.ts';
import type { RunHandle } from '../session/run-options.ts';

/** What another process may ask of the runner of a run, one JSON line each. */
export type ControlRequest =
  | { readonly verb: 'cancel'; readonly by: string }
  | { readonly verb: 'approve'; readonly step: string; readonly approved: boolean; readonly by: string };

/** Lets other processes talk to a run's handle as soon as there is one. Answers `ok` or a reason. */
export function controlRun(): { readonly listener: ControlListener; attach(handle: RunHandle): void } {
  let handle: RunHandle | undefined;
  return {
    attach(made) {
      handle = made;
    },
    listener(line) {
      if (!handle) return 'the run is being resumed; try again';
      const request = JSON.parse(line) as ControlRequest;
      switch (request.verb) {
        case 'approve':
          return handle.approve(request.step, request) ? 'ok' : `step ${request.step} does not wait for approval`;
        case 'cancel':
          handle.cancel(request.by);
          return 'ok';
        default:
          // Of a newer version; to take it for one of the others could end the run.
          return `this runner does not know what ${JSON.stringify(request)} asks for`;
      }
    },
  };
}
