import type { RunFacts } from '../facts/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** The parts of a run that a report is created from. */
export interface ReportSource {
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
  /** The run's directory in the home. */
  readonly directory: string;
  /** Until when the time of a run that has not ended counts. Default: its last record. */
  readonly now?: number;
}
