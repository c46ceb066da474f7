import type { ContainerService } from '@sluice/client';
import type { Plan } from '@sluice/core';
import type PQueue from 'p-queue';
import type { Clock } from '../clock.ts';
import type { Disk } from '../journal/disk.ts';
import type { EventFacts, JournalRecord } from '../journal/journal-record.ts';
import type { RunFacts } from '../record/run-facts.ts';
import type { RunnerEvent } from '../report/reporter.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { AbsenceLimit } from './absence-limit.ts';
import type { Redactor } from './create-redactor.ts';

/** What the parts of the shell share while this process drives a run. */
export interface RunSession {
  readonly runId: string;
  /** The run's directory in the home. */
  readonly directory: string;
  readonly home: string;
  readonly plan: Plan;
  readonly epoch: number;
  readonly service: ContainerService;
  readonly clock: Clock;
  readonly disk: Disk;
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
  /** When this process took the run up; undefined where the run began in it. */
  readonly resumedAt: number | undefined;
  /** How long a container may be absent. */
  readonly absenceLimit: AbsenceLimit;
  /** Every call to the service goes through it: it bounds how many are under way. */
  readonly calls: PQueue;
  readonly secrets: (name: string) => string | undefined;
  /** Takes the values of secrets out of what is shown or kept. */
  readonly redactor: Redactor;
  readonly probe: (url: string) => Promise<boolean>;
  report(event: RunnerEvent): void;
  /** Hands an event to the scheduler at the end of this loop turn. Nothing happens once the session has stopped. */
  post(event: SchedulerEvent, facts?: EventFacts): void;
  /** Writes a record that the scheduler need not hear of; durable with the next commit. */
  note(record: JournalRecord): void;
  /** Resolves when everything posted and noted before is durable. Never resolves once the session has stopped. */
  durable(): Promise<void>;
  /** False where another runner has resumed the run since: this one stops then. Reads one small file. */
  readonly ownsLease: () => boolean;
  /** Ends the run's driving for an error that nobody expected: `finished` rejects with it. */
  readonly fail: (error: unknown) => void;
  /** Whether this process has let go of the run. */
  readonly stopped: boolean;
}

/** Resolves after `ms`, never once the session has stopped: what waits then is dropped with everything it holds. */
export function pause(session: RunSession, ms: number): Promise<void> {
  return new Promise((resolve) => {
    session.clock.setTimer(session.clock.now() + ms, () => {
      if (!session.stopped) resolve();
    });
  });
}
