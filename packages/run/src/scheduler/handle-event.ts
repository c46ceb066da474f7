import { attemptEvent, startReady } from './flow/attempt-flow.ts';
import { listItems } from './flow/list-flow.ts';
import { endBrokenServices } from './flow/service-flow.ts';
import {
  accepts,
  approved,
  decided,
  evaluationFailed,
  makeReady,
  releaseFinals,
  releaseRoots,
  resolveEnds,
  skippedByWhen,
} from './flow/step-flow.ts';
import { cancelRun, failFast, stopExceeded } from './flow/stop-flow.ts';
import { failHeld } from './flow/stuck.ts';
import { fireTimers, forgetWake, requestWake } from './flow/timer-flow.ts';
import type { SchedulerEvent } from './model/event.ts';
import { CAUSE } from './model/legal-moves.ts';
import { CODE } from './model/state-code.ts';
import { checkCell, countStale, dropStopped, moveCell } from './state/move-cell.ts';
import { type RunState, STOP } from './state/run-state.ts';
import { sendCommand } from './state/send-command.ts';
import { runStatus } from './view/run-status.ts';

/** The one door: applies the event, then everything that follows from it. Commands go to `run.out`. */
export function handleEvent(run: RunState, event: SchedulerEvent): void {
  run.now = event.at;
  if (run.finished) {
    countStale(run);
    return;
  }
  applyEvent(run, event);
  settle(run);
}

function applyEvent(run: RunState, event: SchedulerEvent): void {
  switch (event.type) {
    case 'started':
      start(run);
      return;
    case 'decided':
      decided(run, event);
      return;
    case 'skipped':
      skippedByWhen(run, event);
      return;
    case 'evaluationFailed':
      evaluationFailed(run, event);
      return;
    case 'cacheHit':
    case 'cacheMissed':
      lookedUp(run, event);
      return;
    case 'approved':
      approved(run, event, event.approved);
      return;
    case 'stuck':
      failHeld(run);
      return;
    case 'tick':
      fireTimers(run);
      return;
    case 'cancelRequested':
      cancelRun(run);
      return;
    default:
      attemptEvent(run, event);
  }
}

function start(run: RunState): void {
  if (run.started) throw new Error('cannot start the run: it has been started');
  run.started = true;
  const { timeoutMs } = run.plan.pipeline;
  if (timeoutMs !== undefined) {
    run.timers.add({ kind: 'runTimeout', at: run.now + timeoutMs, step: -1, cell: 0, attempt: 0 });
  }
  releaseRoots(run);
}

function lookedUp(run: RunState, event: Extract<SchedulerEvent, { type: 'cacheHit' | 'cacheMissed' }>): void {
  const { type, step, cell } = event;
  const cause = CAUSE[type];
  checkCell(run, step, cell);
  if (!accepts(run, step, { cell, cause })) return;
  if (type === 'cacheHit') {
    listItems(run, event);
    moveCell(run, step, { cell, to: CODE.cached, cause });
  } else makeReady(run, step, { cell, cause });
}

/** Brings everything to rest that follows from an event: ends, releases, starts, the wake-up and the end of the run. */
function settle(run: RunState): void {
  do {
    stopExceeded(run);
    if (run.tripped >= 0 && run.stop === STOP.none) failFast(run);
    endBrokenServices(run);
    resolveEnds(run);
    if (run.started && run.openMain === 0 && !run.finalsReleased) releaseFinals(run);
  } while (
    run.ended.length + run.endedCells.length + run.brokenServices.length + run.newlyExceeded.length > 0 ||
    (run.tripped >= 0 && run.stop === STOP.none)
  );
  dropStopped(run);
  startReady(run);
  requestWake(run);
  if (run.started && run.openMain === 0 && run.openFinal === 0) {
    run.finished = true;
    forgetWake(run);
    sendCommand(run, { type: 'finish', status: runStatus(run) });
  }
}
