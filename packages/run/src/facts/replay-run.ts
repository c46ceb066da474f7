import { own, type Plan } from '@sluice/core';
import type { JournalRecord } from '../records/journal-record.ts';
import { createScheduler, type Scheduler } from '../scheduler/scheduler.ts';
import { applyEvent } from './apply-event.ts';
import { applyRecord } from './apply-record.ts';
import { checkBegun } from './check-begun.ts';
import { checkSuccesses } from './has-succeeded.ts';
import { limitCells } from './limit-cells.ts';
import { createRunFacts, type RunFacts } from './run-facts.ts';

/** Receives the state changes of a scheduler's cells, once `onMove` is set. */
export interface MoveListener {
  onMove?: (step: number, cell: number) => void;
  /** Called during a replay, after each record. */
  replayed?: (record: JournalRecord, scheduler: Scheduler) => void;
}

type RunHeader = Pick<Extract<JournalRecord, { kind: 'run' }>, 'scheduler' | 'placement' | 'reuse'>;

/** Creates the scheduler of a run with the options in its journal's first record. */
export function createRunScheduler(plan: Plan, header: RunHeader, moves: MoveListener = {}): Scheduler {
  const { scheduler: start, placement, reuse } = header;
  const { durations, limits } = start;
  return createScheduler(plan, {
    ...(limits && placement && { limits: limitCells(limits, placement) }),
    looksUpAll: reuse !== undefined,
    checksInputs: start.checksInputs === true,
    parallelism: start.parallelism,
    seed: start.seed,
    onMove: (step, cell) => moves.onMove?.(step, cell),
    ...(durations && { durations: (step: string) => own(durations, step) }),
  });
}

/**
 * Restores a run from its plan and its journal. Undefined: the journal lacks its first record. Throws if the records
 * contradict the plan or each other.
 */
export function replayRun(
  plan: Plan,
  records: readonly JournalRecord[],
  moves: MoveListener = {},
): { readonly facts: RunFacts; readonly scheduler: Scheduler } | undefined {
  const header = records.find((record) => record.kind === 'run');
  if (!header) return undefined;
  const facts = createRunFacts(plan);
  const scheduler = createRunScheduler(plan, header, moves);
  for (const record of records) {
    if (record.kind === 'event') {
      applyEvent({ facts, scheduler }, record);
    } else {
      checkBegun(scheduler, record);
      applyRecord(facts, record);
    }
    moves.replayed?.(record, scheduler);
  }
  checkSuccesses({ facts, scheduler });
  return { facts, scheduler };
}
