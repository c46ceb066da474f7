import type { MoveListener } from '../facts/replay-run.ts';
import { attemptOf, describeRecord, isAbout, timeOf } from '../report/describe-record.ts';
import { describeState } from '../report/status-of-cell.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { HistoryLine } from '../schemas/explanation.ts';

/** Collects the history of one cell while a run is replayed with `moves`: its moves, and the records about it. */
export function traceCell(step: number, cell: number): { moves: MoveListener; history: readonly HistoryLine[] } {
  const history: HistoryLine[] = [];
  let moved = 0;
  let at = 0;
  let isOutOfMemory = false;
  return {
    history,
    moves: {
      onMove: (movedStep, movedCell) => {
        if (movedStep === step && movedCell === cell) moved += 1;
      },
      replayed(record, scheduler) {
        at = timeOf(record) ?? at;
        const isOwn = isAbout(record, step, cell);
        const message = isOwn ? describeRecord(record) : undefined;
        if (isOwn && record.kind === 'event' && record.event.type === 'ended') {
          const { outcome } = record.event;
          isOutOfMemory = outcome.result === 'failed' && outcome.class === 'oom';
        }
        if (moved > 0) history.push(...describeMoves(scheduler, { step, cell, moved, message, isOutOfMemory }));
        else if (message !== undefined) history.push({ at, attempt: attemptOf(record), message });
        moved = 0;
      },
    },
  };
}

function describeMoves(
  scheduler: Scheduler,
  given: { step: number; cell: number; moved: number; message: string | undefined; isOutOfMemory: boolean },
): HistoryLine[] {
  const { step, cell, moved, message, isOutOfMemory } = given;
  return scheduler
    .history(step, cell)
    .slice(-moved)
    .map(({ at, from, to, cause, attempt }, index) => ({
      at,
      previousStatus: describeState(from, () => isOutOfMemory).status,
      ...describeState(to, () => isOutOfMemory),
      cause,
      attempt,
      // It belongs to the first move; the others follow from it.
      ...(index === 0 && message !== undefined && { message }),
    }));
}
