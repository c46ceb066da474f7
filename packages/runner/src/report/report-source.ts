import type { RunFacts } from '../record/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** What a report is made of. */
export interface ReportSource {
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
  /** The run's directory in the home. */
  readonly directory: string;
}
