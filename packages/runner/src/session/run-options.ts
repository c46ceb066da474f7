import type { ContainerService, Scope } from '@sluice/client';
import type { Plan } from '@sluice/core';
import type { Clock, Disk } from '@sluice/home';
import type { Reporter, Reuse, RunOrder, RunReport, SiteLimits } from '@sluice/run';
import type { TraceSink } from '../trace/trace-sink.ts';
import type { RunAllowance } from './run-allowance.ts';
import type { SharedPolls } from './shared-polls.ts';
import type { Notifier } from './system-notifier.ts';

/** Options for starting, resuming and adopting a run. */
export interface RunnerOptions {
  /** The caller closes it, after the run has finished or was suspended. */
  readonly service: ContainerService;
  /** The directory that contains runs, cache and credentials; created if absent. */
  readonly home: string;
  /**
   * Value of a secret of a run, or undefined if it is unknown. Called at each submission; the value is never stored. The run
   * is another one while an earlier run of the concurrency group is canceled.
   */
  readonly secrets?: (name: string, runId: string) => string | undefined;
  /** Receives the events of the run; default: none. */
  readonly reporter?: Reporter;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: the machine's file system. */
  readonly disk?: Disk;
  /** Limits the run's concurrent containers, in addition to the pipeline's `parallelism`. Default 1000. */
  readonly parallelism?: number;
  /** Sends the pipeline's notifications. Default: HTTP POST requests, and processes of this machine. */
  readonly notifier?: Notifier;
  /** Receives the run as a trace; containers then have the variable `TRACEPARENT`. Default: none. */
  readonly traces?: TraceSink;
  /**
   * Leave the run, with status `suspended`, as soon as it can only continue after a person has answered. Default: wait.
   */
  readonly leavesForPeople?: boolean;
  /** Shared with other runs of the same service and login. Default: the run polls for itself. */
  readonly polls?: SharedPolls;
  /**
   * Copy the outputs with `publish` to their local directories at the end. Default: true. False: they are recorded as
   * pending, for the machine that has the directories.
   */
  readonly delivers?: boolean;
  /** What the run may use of this process, for a server that executes the runs of others. Default: no limits. */
  readonly allowance?: RunAllowance;
  /**
   * Why a service step does not answer at its URL; undefined if it does. Default: an HTTP GET that must end with a status
   * below 400.
   */
  readonly probe?: (url: string) => Promise<string | undefined>;
  /**
   * Cancels another run of the home, which no process executes, on behalf of `by`. Resolves when nothing more is done about it
   * here. Default: this process executes it until its end.
   */
  readonly cancelLeft?: (runId: string, by: string) => Promise<void>;
}

/** What a new run needs. It is stored with the run, so that resuming does not need it again. */
export interface StartRunOptions extends RunnerOptions {
  /** Stored with the run. */
  readonly plan: Plan;
  /** Cluster and account of the run; no wildcards. */
  readonly scope: Scope;
  /** Directory that relative `source` and `publish` paths start from: that of the pipeline file. */
  readonly baseDir: string;
  /** Limits of the site, in addition to those of the pipeline. Frozen with the run. */
  readonly limits?: SiteLimits;
  /** The run is rejected if it publishes elsewhere than below this directory, or to a hidden directory in it. */
  readonly publishBelow?: string;
  /** Default: a new random ID. Set by schedules and simulations, whose runs have an ID before they start. */
  readonly runId?: string;
  /** The time that the run is for, in milliseconds since the epoch, if it is not the time of its start. */
  readonly plannedTime?: number;
  /** Reuse the successful, unchanged steps of an earlier run of the pipeline, and that run's planned time. */
  readonly reuse?: Reuse;
  /** What a command was asked for. Stored with the run, so that it can be started again. */
  readonly order?: RunOrder;
}

/** What resuming a run needs; everything else is stored in its directory. */
export interface ResumeRunOptions extends RunnerOptions {
  readonly runId: string;
  /** Cancel the run at once, on behalf of this name, instead of starting anything more. */
  readonly cancelBy?: string;
  /** With `cancelBy`: nothing is requested again of a run that is being canceled, which would cancel its `finally` steps, too. */
  readonly cancelsOnce?: boolean;
  /** Aborted: a run that waits for its concurrency group is rejected with `RUN_IN_USE`. Later it has no effect. */
  readonly signal?: AbortSignal;
}

/** A run that this process executes. */
export interface RunHandle {
  readonly runId: string;
  /** The run's directory in the home, absolute. */
  readonly directory: string;
  /**
   * Resolves when the run ends, or with status `suspended` after `suspend` or if this runner had to stop (journal not
   * writable, another runner resumed the run). Rejects only for a bug.
   */
  readonly finished: Promise<RunReport>;
  /** Starts nothing new and cancels running containers; `finally` steps still run. A second call has no effect. */
  cancel(by: string): void;
  /** Leaves the containers running; resolves when the journal is durable and closed. */
  suspend(): Promise<void>;
  /** Answers an approval step. False: no such step waits for approval. */
  approve(step: string, answer: { approved: boolean; by: string }): boolean;
  /**
   * Resolves to true when the cancellations and answers so far are durable, and to false if this process has left the run
   * before it handled them. Rejects if the journal cannot be written.
   */
  recorded(): Promise<boolean>;
}
