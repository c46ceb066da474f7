import { fail, ok, type Plan, type Result } from '@sluice/core';
import type { JournalRecord } from '../records/journal-record.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { type MoveListener, replayRun } from './replay-run.ts';
import type { RunFacts } from './run-facts.ts';
import type { RunError } from './run-rejection.ts';

/** A run restored from its journal, for reading. */
export interface ReplayedRun {
  readonly runId: string;
  readonly directory: string;
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
}

/** The plan and the journal of a run. */
export interface RunFiles {
  readonly runId: string;
  readonly directory: string;
  readonly plan: Plan;
  readonly records: readonly JournalRecord[];
}

/** Replays a run's files; `moves` is notified of the cells' moves. Rejects a journal that contradicts the plan or itself. */
export function replayFiles(files: RunFiles, moves?: MoveListener): Result<ReplayedRun, RunError> {
  const { runId, directory, plan, records } = files;
  try {
    const replayed = replayRun(plan, records, moves);
    return replayed ? ok({ runId, directory, ...replayed }) : fail(notBegun(runId));
  } catch (error) {
    const message = `could not read the journal of run ${runId}: ${(error as Error).message}`;
    return fail({ code: 'JOURNAL_DAMAGED', message });
  }
}

/** The rejection of a run whose first process ended before its journal had a record. */
export function notBegun(runId: string): RunError {
  return { code: 'RUN_NOT_FOUND', message: `run ${runId} was interrupted before it began` };
}
