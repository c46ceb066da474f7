import type { JournalRecord } from '../journal/journal-record.ts';
import type { MoveListener } from '../record/replay-run.ts';
import type { CellState } from '../scheduler/model/cell-state.ts';
import type { Cause } from '../scheduler/model/legal-moves.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** One event in the story of a cell. */
export interface StoryLine {
  readonly at: number;
  /** For a change of state: the previous state. */
  readonly from?: CellState;
  readonly to?: CellState;
  readonly cause?: Cause;
  /** Counted from 1; 0 if the event belongs to no attempt. */
  readonly attempt: number;
  readonly detail?: string;
}

/** Collects the story of one cell while a run is replayed with `moves`: its changes of state, and the records about it. */
export function traceCell(step: number, cell: number): { moves: MoveListener; story: readonly StoryLine[] } {
  const story: StoryLine[] = [];
  let moved = 0;
  let at = 0;
  return {
    story,
    moves: {
      onMove: (movedStep, movedCell) => {
        if (movedStep === step && movedCell === cell) moved += 1;
      },
      replayed(record, scheduler) {
        at = timeOf(record) ?? at;
        const detail = isAbout(record, step, cell) ? describeRecord(record) : undefined;
        if (moved > 0) story.push(...describeMoves(scheduler, { step, cell, moved, detail }));
        else if (detail !== undefined) story.push({ at, attempt: attemptOf(record), detail });
        moved = 0;
      },
    },
  };
}

function describeMoves(
  scheduler: Scheduler,
  { step, cell, moved, detail }: { step: number; cell: number; moved: number; detail: string | undefined },
): StoryLine[] {
  // The detail of the record belongs to the first move; the others follow from it.
  return scheduler
    .story(step, cell)
    .slice(-moved)
    .map((move, index) => (index === 0 && detail !== undefined ? { ...move, detail } : { ...move }));
}

function timeOf(record: JournalRecord): number | undefined {
  if (record.kind === 'event') return record.event.at;
  return 'at' in record ? record.at : undefined;
}

function attemptOf(record: JournalRecord): number {
  if (record.kind === 'event') return 'attempt' in record.event ? record.event.attempt : 0;
  return 'attempt' in record ? record.attempt : 0;
}

function isAbout(record: JournalRecord, step: number, cell: number): boolean {
  const named = record.kind === 'event' ? record.event : record;
  if (!('step' in named) || named.step !== step) return false;
  return !('cell' in named) || named.cell === cell;
}

/** The detail that a record adds to the move that it causes; undefined if it adds none. */
function describeRecord(record: JournalRecord): string | undefined {
  switch (record.kind) {
    case 'intent':
      return `about to create container ${record.id} on cluster ${record.clusterID} (${record.instanceType})`;
    case 'cancelIntent':
      return `about to cancel its container: ${record.reason}`;
    case 'log':
      return record.file === undefined ? undefined : `its log is stored in ${record.file}`;
    case 'event':
      return describeEvent(record);
    default:
      return undefined;
  }
}

function describeEvent({ event, facts }: Extract<JournalRecord, { kind: 'event' }>): string | undefined {
  switch (event.type) {
    case 'decided':
      return facts?.cells ? `decided: ${facts.cells.length} cells` : undefined;
    case 'skipped':
      return 'its condition does not hold';
    case 'evaluationFailed':
      return event.message;
    case 'cacheHit':
      return facts?.cached && `the same work was done in run ${facts.cached.runId}`;
    case 'cacheMissed':
      return facts?.missed && MISSES[facts.missed.reason];
    case 'submitted':
      return facts?.container?.runID === undefined ? undefined : `the service calls it ${facts.container.runID}`;
    case 'postponed':
      return `postponed (${event.reason}) until ${new Date(event.until).toISOString()}`;
    case 'ended':
      return event.outcome.result === 'failed' ? event.outcome.message : event.outcome.result;
    case 'approved':
      return `${event.approved ? 'approved' : 'rejected'} by ${event.by}`;
    default:
      return undefined;
  }
}

const MISSES = {
  unknown: 'no earlier success has its fingerprint',
  expired: 'the earlier success is older than maxAge',
  dataGone: 'the outputs of the earlier success are gone',
  dataChanged: 'a container changed the outputs of the earlier success',
  writesShared: 'it writes to a shared volume, and a reused step writes nothing',
  anew: 'a rerun was requested, or a dependency was rerun',
  secret: 'a result of the earlier success contains the value of a secret of this run',
} as const;
