import type { EventFacts } from '../journal/journal-record.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';

/** An event for the scheduler, with the facts that the journal records with it. */
export interface Posted {
  readonly event: SchedulerEvent;
  readonly facts?: EventFacts;
}
