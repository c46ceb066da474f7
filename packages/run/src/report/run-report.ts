import type { FailureClass, Json } from '@sluice/core';
import type { KeptResult } from '../records/kept-result.ts';
import type { RunWarning } from '../records/run-warning.ts';
import type { StatusReport } from './cell-status.ts';
import type { ExposedPort } from './exposed-ports.ts';

/**
 * The statuses of runs. `running`: a process executes it. `waiting`: a process will, as soon as its concurrency group has a
 * place. `suspended`: no process does, and it can be resumed.
 */
export const RUN_PHASES = ['waiting', 'running', 'suspended', 'succeeded', 'failed', 'canceled'] as const;

/** One of `RUN_PHASES`. */
export type RunPhase = (typeof RUN_PHASES)[number];

/**
 * A run according to its journal; times are in milliseconds since the Unix epoch. `sluice show --json` prints the same
 * names and values.
 */
export interface RunReport {
  readonly runId: string;
  readonly pipeline: string;
  readonly status: RunPhase;
  /** Why the run is suspended or canceled, or a problem outside its steps. */
  readonly message?: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly clusterId: string;
  readonly accountId: string;
  /** In the plan's order. */
  readonly steps: readonly StepReport[];
  /** Failed attempts, in the order in which they ended; also a step whose `when` or `foreach` could not be evaluated. */
  readonly failures: readonly FailureReport[];
  /** The warnings of the run in order; absent if there are none. */
  readonly warnings?: readonly RunWarning[];
  /** The pipeline's `outputs`, by name; only those whose step succeeded. */
  readonly outputs: Readonly<Record<string, OutputReport>>;
  /** The results that the pipeline declares, by name: those of steps that have succeeded. Absent if it declares none. */
  readonly results?: Readonly<Record<string, Json>>;
  /** Outputs that this run has not produced, if their directories contain the output of an earlier run. */
  readonly kept?: Readonly<Record<string, KeptResult>>;
  /** The arguments of `sluice` that start the same run again with `--reuse`; absent if unknown. */
  readonly rerun?: readonly string[];
}

/** The status of a step and of its cells; a plain step has one cell, and so has a `foreach` that could not be evaluated. */
export interface StepReport extends StatusReport {
  readonly name: string;
  readonly cells: readonly CellReport[];
}

/** The status of a cell, with the container of its last attempt. */
export interface CellReport extends StatusReport {
  /** `''` for a plain step. */
  readonly cell: string;
  /** Of a cell of `foreach`. */
  readonly item?: Json;
  /** The number of attempts so far, each with a container. */
  readonly attempts: number;
  readonly containerId?: string;
  readonly clusterId?: string;
  readonly submittedAt?: number;
  readonly runningAt?: number;
  readonly endedAt?: number;
  /** Why it waits, was skipped or failed. */
  readonly message?: string;
  /** The exposed ports of a cell that runs, by name. */
  readonly ports?: Readonly<Record<string, ExposedPort>>;
  readonly results: Readonly<Record<string, Json>>;
  /** The ID of the run whose outputs a reused cell has. */
  readonly reusedFrom?: string;
}

/** An attempt that failed, or that was canceled; 1 for a step that could not be evaluated. */
export interface FailureReport {
  readonly step: string;
  readonly cell: string;
  /** Of a cell of `foreach`. */
  readonly item?: Json;
  readonly attempt: number;
  readonly status: 'failed' | 'canceled';
  /** Present exactly if the status is `failed`. */
  readonly reason?: FailureClass;
  readonly exitCode?: number;
  readonly message: string;
  readonly containerId?: string;
  /** What the user can do about it. */
  readonly hint?: string;
  /** The last lines of the attempt's log; empty if it could not be read. */
  readonly logTail: readonly string[];
  /** The archived log, an absolute path. */
  readonly logFile?: string;
}

/** An output of the pipeline whose step has succeeded. */
export interface OutputReport {
  readonly step: string;
  readonly output: string;
  /** A directory or file in the output, relative to it; absent: all of it. */
  readonly path?: string;
  /** One for a plain step; for a step with cells one for each cell, in their order. */
  readonly places: readonly PlaceReport[];
  /** Absolute local directory with the copy for `publish`. */
  readonly publishedTo?: string;
  /** Why the copy for `publish` could not be made. */
  readonly notPublished?: string;
}

/** The directory with the output of one cell. For a reused cell, it belongs to an earlier run. */
export interface PlaceReport {
  /** `''` for a plain step. */
  readonly cell: string;
  readonly clusterId: string;
  readonly accountId: string;
  readonly volumeId: string;
  /** Path inside the volume. */
  readonly path: string;
}
