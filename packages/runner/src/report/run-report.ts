import type { FailureClass, Json } from '@sluice/core';
import type { KeptResult } from '../journal/kept-result.ts';
import type { RunWarning } from '../journal/run-warning.ts';
import type { CellState } from '../scheduler/model/cell-state.ts';
import type { RunStatus } from '../scheduler/model/command.ts';

/** The status of a run. `active`: a process executes it. `suspended`: no process does, and it can be resumed. */
export type RunPhase = RunStatus | 'active' | 'suspended';

/** A run according to its journal. Plain JSON data, shown by `sluice show`; `report.json` contains more. */
export interface RunReport {
  readonly runId: string;
  readonly pipeline: string;
  readonly status: RunPhase;
  /** Why the run is suspended or canceled, or a problem outside its steps. */
  readonly message?: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly clusterID: string;
  readonly accountID: string;
  /** In the plan's order. */
  readonly steps: readonly StepReport[];
  /** Failed attempts, in the order in which they ended. */
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

/** The state of a step and of its cells; a plain step has one cell. */
export interface StepReport {
  readonly name: string;
  readonly state: CellState;
  readonly cells: readonly CellReport[];
}

/** The state of a cell. Times are in milliseconds since the Unix epoch. */
export interface CellReport {
  /** `''` for a plain step. */
  readonly key: string;
  /** Of a cell of `foreach`. */
  readonly item?: Json;
  readonly state: CellState;
  /** The number of attempts so far. */
  readonly attempts: number;
  readonly containerID?: string;
  /** Of the last attempt. */
  readonly clusterID?: string;
  readonly submittedAt?: number;
  readonly runningAt?: number;
  readonly endedAt?: number;
  /** Why it waits, was skipped or failed. */
  readonly reason?: string;
  readonly results: Readonly<Record<string, Json>>;
  /** The earlier run whose outputs are reused, for a cached cell. */
  readonly cachedFrom?: string;
}

/** An attempt that failed, or that was canceled. */
export interface FailureReport {
  readonly step: string;
  readonly cell: string;
  /** Of a cell of `foreach`. */
  readonly item?: Json;
  readonly attempt: number;
  readonly class: FailureClass | 'canceled';
  readonly exitCode?: number;
  readonly message: string;
  readonly containerID?: string;
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
  readonly clusterID: string;
  readonly accountID: string;
  readonly volumeID: string;
  /** Path inside the volume. */
  readonly path: string;
}
