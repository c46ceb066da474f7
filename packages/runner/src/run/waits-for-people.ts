import type { Scheduler } from '@sluice/run';

/** Whether a run cannot continue until a person has answered. Linear in the cells. */
export function waitsForPeople(scheduler: Scheduler): boolean {
  const counts = scheduler.counts();
  if (counts.awaitingApproval === 0) return false;
  const { ready, checking, submitting, pending, running, publishing, backingOff } = counts;
  return ready + checking + submitting + pending + running + publishing + backingOff === 0;
}
