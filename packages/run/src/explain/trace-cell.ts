import type { MoveListener } from '../facts/replay-run.ts';
import { type CellStatus, describeState, type StatusReport } from '../report/cell-status.ts';
import { attemptOf, describeRecord, isAbout, timeOf } from '../report/describe-record.ts';
import type { Cause } from '../scheduler/model/legal-moves.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** One event in the story of a cell; with `status` if the cell has moved. */
export interface StoryLine extends Partial<StatusReport> {
  /** In milliseconds since the Unix epoch. */
  readonly at: number;
  readonly previousStatus?: CellStatus;
  readonly cause?: Cause;
  /** Counted from 1; 0 if the event belongs to no attempt. */
  readonly attempt: number;
  readonly message?: string;
}

/** Collects the story of one cell while a run is replayed with `moves`: its moves, and the records about it. */
export function traceCell(step: number, cell: number): { moves: MoveListener; story: readonly StoryLine[] } {
  const story: StoryLine[] = [];
  let moved = 0;
  let at = 0;
  let isOutOfMemory = false;
  return {
    story,
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
        if (moved > 0) story.push(...describeMoves(scheduler, { step, cell, moved, message, isOutOfMemory }));
        else if (message !== undefined) story.push({ at, attempt: attemptOf(record), message });
        moved = 0;
      },
    },
  };
}

function describeMoves(
  scheduler: Scheduler,
  given: { step: number; cell: number; moved: number; message: string | undefined; isOutOfMemory: boolean },
): StoryLine[] {
  const { step, cell, moved, message, isOutOfMemory } = given;
  return scheduler
    .story(step, cell)
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
