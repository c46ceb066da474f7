import type { RunStatus } from '../model/command.ts';
import { type RunState, STOP } from '../state/run-state.ts';

/** How the run stands by what is over so far. */
export function runStatus(run: RunState): RunStatus {
  if (run.stop === STOP.canceled || run.cancelRequests > 0) return 'canceled';
  return run.failed ? 'failed' : 'succeeded';
}
