import type { FailureClass, Json } from '@sluice/core';
import type { KeptResult } from '../journal/kept-result.ts';
import type { RunWarning } from '../journal/run-warning.ts';
import type { CellState } from '../scheduler/model/cell-state.ts';
import type { RunStatus } from '../scheduler/model/command.ts';

/** Everything a run can be seen as: `active` is held by a living runner, `suspended` by none and can be resumed. */
export type RunPhase = RunStatus | 'active' | 'suspended';

/** A run as its journal tells it. Plain JSON data, shown by `sluice show`; `report.json` holds more. */
export interface RunReport {
  readonly runId: string;
  readonly pipeline: string;
  readonly status: RunPhase;
  /** Why the run is suspended or canceled, or what went wrong beside its steps, where there is something to say. */
  readonly message?: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly clusterID: string;
  readonly accountID: string;
  /** In the plan's order. */
  readonly steps: readonly StepReport[];
  /** Failed attempts, in the order of their ends. */
  readonly failures: readonly FailureReport[];
  /** What the user was warned of while the run went on, in order; absent where there was nothing. */
  readonly warnings?: readonly RunWarning[];
  /** The pipeline's `outputs`, by name; only those whose step succeeded. */
  readonly outputs: Readonly<Record<string, OutputReport>>;
  /** Where `publish` of an output that this run has not made names a directory with the result of an earlier run. */
  readonly kept?: Readonly<Record<string, KeptResult>>;
  /** The words after `sluice` that start the same run again with `--reuse`; absent where the run does not know them. */
  readonly rerun?: readonly string[];
}

export interface StepReport {
  readonly name: string;
  readonly state: CellState;
  readonly cells: readonly CellReport[];
}

export interface CellReport {
  /** `''` for a plain step. */
  readonly key: string;
  /** Of a cell of `foreach`. */
  readonly item?: Json;
  readonly state: CellState;
  /** Attempts so far. */
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
  /** What to do about it, where that can be told. */
  readonly hint?: string;
  /** The last lines of the attempt's log, where it could be read. */
  readonly logTail: readonly string[];
  /** The archived log, an absolute path. */
  readonly logFile?: string;
}

export interface OutputReport {
  readonly step: string;
  readonly output: string;
  /** One for a plain step; of a step with cells one for each cell, in their order. */
  readonly places: readonly PlaceReport[];
  /** Local directory with a copy of the files, absolute, where `publish` asked for it. */
  readonly publishedTo?: string;
  /** Why there is no such copy although `publish` asked for it. */
  readonly notPublished?: string;
}

/** A directory that holds the output of one cell. Cells that reuse earlier work have theirs in earlier runs. */
export interface PlaceReport {
  /** `''` for a plain step. */
  readonly cell: string;
  readonly clusterID: string;
  readonly accountID: string;
  readonly volumeID: string;
  /** Path inside the volume. */
  readonly path: string;
}
