import type { ContainerService, Scope } from '@sluice/client';
import type { Plan } from '@sluice/core';
import type { Clock } from '../clock.ts';
import type { Disk } from '../journal/disk.ts';
import type { SiteLimits } from '../journal/placement.ts';
import type { Reuse } from '../journal/reuse.ts';
import type { Reporter } from '../report/reporter.ts';
import type { RunReport } from '../report/run-report.ts';
import type { Notifier } from './system-notifier.ts';

/** What every way of driving a run needs. */
export interface RunnerOptions {
  readonly service: ContainerService;
  /** The directory that keeps runs, cache and credentials; made when absent. */
  readonly home: string;
  /** Value of a secret, or undefined where it is not known. Asked at each submission; never stored. */
  readonly secrets?: (name: string) => string | undefined;
  readonly reporter?: Reporter;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Default: the machine's files. */
  readonly disk?: Disk;
  /** Containers of this run at once, beside the pipeline's own `parallelism`. Default 1000. */
  readonly maxInFlight?: number;
  /** Sends the pipeline's notifications. Default: HTTP POSTs, and processes of this machine. */
  readonly notifier?: Notifier;
  /** Let go of the run, with status `suspended`, once nothing goes on until a person has answered. Default: wait. */
  readonly leavesForPeople?: boolean;
  /** Asks whether a service step answers at its URL. Default: an HTTP GET that ends with a status below 400. */
  readonly probe?: (url: string) => Promise<boolean>;
}

export interface StartRunOptions extends RunnerOptions {
  readonly plan: Plan;
  /** Cluster and account that the run works in; no wildcards. */
  readonly scope: Scope;
  /** Directory that relative `source` and `publish` paths start from: that of the pipeline file. */
  readonly baseDir: string;
  /** Bounds of the site, beside those of the pipeline. Frozen with the run. */
  readonly limits?: SiteLimits;
  /** Default: a new random one. Given by schedules and simulations, whose runs have an ID before they start. */
  readonly runId?: string;
  /** What time the run is for, in milliseconds since the epoch, where that is not the time at which it is started. */
  readonly plannedTime?: number;
  /** Take over what went well in an earlier run of the pipeline and is the same still, with that run's planned time. */
  readonly reuse?: Reuse;
  /**
   * The words after `sluice` of the command that starts the same run again with `--reuse`, for people. Kept with the run
   * and shown by its report; nothing runs it.
   */
  readonly rerun?: readonly string[];
}

export interface ResumeRunOptions extends RunnerOptions {
  readonly runId: string;
  /** Cancel the run at once, in this name, instead of starting anything more. */
  readonly cancelBy?: string;
}

/** A run that this process drives. */
export interface RunHandle {
  readonly runId: string;
  /** The run's directory in the home, absolute. */
  readonly directory: string;
  /**
   * Resolves at the run's end, or with status `suspended` after `detach` or when this runner had to stop (journal not
   * writable, another runner took over). Rejects only for a bug.
   */
  readonly finished: Promise<RunReport>;
  /** Starts nothing new and cancels what runs; `finally` steps still run. Again: no effect. */
  cancel(by: string): void;
  /** Leaves the containers to themselves; resolves when the journal is safe and closed. */
  detach(): Promise<void>;
  /** Answers an approval step. False: no such step waits for an answer. */
  approve(step: string, answer: { approved: boolean; by: string }): boolean;
}
