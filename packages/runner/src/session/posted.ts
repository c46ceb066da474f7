import type { EventFacts } from '../journal/journal-record.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';

/** An event for the scheduler, with what the journal records beside it. */
export interface Posted {
  readonly event: SchedulerEvent;
  readonly facts?: EventFacts;
}
