import type { Backoff, ContainerService } from '@sluice/client';
import type { Plan } from '@sluice/core';
import type { Clock, Disk } from '@sluice/home';
import type { EventFacts, JournalRecord, RunFacts, Scheduler, SchedulerEvent, UnnumberedEvent } from '@sluice/run';
import type PQueue from 'p-queue';
import type { AbsenceLimit } from './absence-limit.ts';
import type { Redactor } from './create-redactor.ts';
import type { RunUsage } from './run-usage.ts';

/** What the parts of the shell share while this process executes a run. */
export interface RunSession {
  readonly runId: string;
  /** The run's directory in the home. */
  readonly directory: string;
  readonly home: string;
  readonly plan: Plan;
  readonly epoch: number;
  readonly service: ContainerService;
  readonly clock: Clock;
  /** As that of `clock`, but canceled when the session is released, so that no timer keeps the process alive. */
  readonly setTimer: Clock['setTimer'];
  readonly disk: Disk;
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
  /** When this process resumed the run; undefined if it started the run. */
  readonly resumedAt: number | undefined;
  /** How long a container may be absent. */
  readonly absenceLimit: AbsenceLimit;
  /** Every call to the service goes through this queue, which limits the number of calls in flight. */
  readonly calls: PQueue;
  readonly secrets: (name: string) => string | undefined;
  /** Removes the values of secrets from what is shown or stored. */
  readonly redactor: Redactor;
  /** Why a service step does not answer at its URL; undefined if it does. */
  readonly probe: (url: string) => Promise<string | undefined>;
  /** What the run uses of this process, if that is limited. */
  readonly usage: RunUsage;
  /** Whether the run is sent as a trace. */
  readonly isTraced: boolean;
  report(event: UnnumberedEvent): void;
  /** Passes an event to the scheduler at the end of this loop turn. No effect after the session has stopped. */
  post(event: SchedulerEvent, facts?: EventFacts): void;
  /** Writes a record that the scheduler does not need; durable with the next commit. */
  note(record: JournalRecord): void;
  /** Resolves when everything posted and noted before is durable. Never resolves after the session has stopped. */
  durable(): Promise<void>;
  /** False if another runner has resumed the run since, or the run was removed: this one then stops. Reads one small file. */
  readonly ownsLease: () => boolean;
  /** Ends the execution because of an unexpected error: `finished` rejects with it. */
  readonly fail: (error: unknown) => void;
  /** Whether this process has stopped executing the run. */
  readonly stopped: boolean;
}

/** Delays between attempts of a call that is repeated until the service answers. */
export const CALL_BACKOFF: Backoff = { initialMs: 500, maxMs: 30_000 };

/** Resolves after `ms`; never after the session has stopped, so that waiting code is dropped with all that it holds. */
export function pause(session: RunSession, ms: number): Promise<void> {
  return new Promise((resolve) => {
    session.setTimer(session.clock.now() + ms, resolve);
  });
}
