import type { RunStatus } from '../model/command.ts';
import { type RunState, STOP } from '../state/run-state.ts';

/** The status of the run, judged by the steps that have ended. */
export function runStatus(run: RunState): RunStatus {
  if (run.stop === STOP.canceled || run.cancelRequests > 0) return 'canceled';
  return run.failed ? 'failed' : 'succeeded';
}
