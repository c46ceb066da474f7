import type { JournalRecord } from '../records/journal-record.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** Throws if a record is about an attempt that has not begun: it would be taken for what is known when the attempt begins. */
export function checkBegun(scheduler: Pick<Scheduler, 'attempt'>, record: JournalRecord): void {
  const about = record.kind === 'event' ? record.event : record;
  if (!('attempt' in about) || about.attempt <= scheduler.attempt(about.step, about.cell)) return;
  const what = `attempt ${about.attempt} of cell ${about.cell} of step ${about.step}`;
  throw new Error(`could not apply a record to the run: ${what} has not begun`);
}
