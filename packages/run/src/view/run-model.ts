import type { Plan } from '@sluice/core';
import { applyEvent } from '../facts/apply-event.ts';
import { applyRecord } from '../facts/apply-record.ts';
import { hasSucceeded } from '../facts/has-succeeded.ts';
import { createRunScheduler, type MoveListener } from '../facts/replay-run.ts';
import { createRunFacts, type RunFacts } from '../facts/run-facts.ts';
import type { ReadLine } from '../records/journal-line.ts';
import type { JournalRecord } from '../records/journal-record.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { CellStatus } from '../schemas/statuses.ts';
import { createMoveLog, type MoveLog } from './move-log.ts';
import { createRecordPlaces, type RecordPlaces } from './record-places.ts';
import { createShownCells } from './shown-cells.ts';
import { shownStatus } from './shown-status.ts';

/** A run as far as its journal has been read. */
export interface RunModel {
  readonly facts: RunFacts;
  /** Undefined until the first record that describes the run. */
  readonly scheduler: Scheduler | undefined;
  /** Sequence number of the last record. */
  readonly position: number;
  readonly moves: MoveLog;
  readonly places: RecordPlaces;
  /** For each step one byte per cell, which changes with the model; empty while the cells of a `foreach` are unknown. */
  readonly states: readonly Uint8Array[];
  /** Number of cells by status, of one step or of the whole run; a status without cells is absent. */
  counts(step?: number): Readonly<Partial<Record<CellStatus, number>>>;
  /** The opening of the journal that wrote a record; 0 for a position that the model has not reached. */
  epochAt(position: number): number;
}

/** A `RunModel` with its only change: the next record. */
export interface WritableRunModel extends RunModel {
  apply(line: ReadLine): void;
}

/** The model of a run of which no record has been read. */
export function createRunModel(plan: Plan): WritableRunModel {
  const facts = createRunFacts(plan);
  const moves = createMoveLog();
  const places = createRecordPlaces();
  const cells = createShownCells(plan);
  const epochs: { readonly epoch: number; readonly from: number }[] = [];
  let touched: (readonly [step: number, cell: number])[] = [];
  const listener: MoveListener = { onMove: (step, cell) => void touched.push([step, cell]) };
  let scheduler: Scheduler | undefined;
  let position = 0;

  function handle(run: Scheduler, record: Extract<JournalRecord, { kind: 'event' }>): void {
    applyEvent({ facts, scheduler: run }, record);
    for (const [step] of touched.slice()) {
      // The cells of a `foreach` that has been decided.
      const added = cells.add(step, run.cellCount(step) ?? 0);
      for (let cell = 0; cell < added; cell++) touched.push([step, cell]);
    }
    for (const [step, cell] of touched) {
      if (cell >= cells.states[step]!.length) continue;
      hasSucceeded({ facts, scheduler: run }, step, cell);
      const shown = { status: shownStatus(run.state(step, cell)), attempt: run.attempt(step, cell) };
      if (cells.show(step, cell, shown)) moves.push({ position, at: record.event.at, step, cell, ...shown });
    }
    touched = [];
  }

  return {
    facts,
    moves,
    places,
    states: cells.states,
    get scheduler() {
      return scheduler;
    },
    get position() {
      return position;
    },
    counts: cells.counts,
    epochAt: (seq) => (seq > position ? 0 : (epochs.findLast(({ from }) => from <= seq)?.epoch ?? 0)),
    apply(line) {
      const { seq, epoch, record } = line;
      position = seq;
      if (epochs.at(-1)?.epoch !== epoch) epochs.push({ epoch, from: seq });
      if (record.kind === 'run') scheduler ??= createRunScheduler(plan, record, listener);
      if (record.kind !== 'event') applyRecord(facts, record);
      else if (scheduler) handle(scheduler, record);
      // After the checks of the record, since it becomes an index here, too.
      places.add(record, line);
    },
  };
}
