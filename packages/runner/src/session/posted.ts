import type { EventFacts, SchedulerEvent } from '@sluice/run';

/** An event for the scheduler, with the facts that the journal records with it. */
export interface Posted {
  readonly event: SchedulerEvent;
  readonly facts?: EventFacts;
}
