import type { CellView } from '../schemas/cell.ts';
import type { FailureReport } from '../schemas/failure.ts';
import type { RunReport } from '../schemas/run-report.ts';
import type { StatusReport } from '../schemas/status.ts';
import type { WarningTopic } from '../schemas/warning.ts';

/** What has happened to a run. Plain JSON data, printed by `--json` as lines of JSON. */
export type RunnerEvent = {
  readonly runId: string;
  /**
   * Starts at 1 in each process that executes the run, and grows by 1 with each event: a gap shows that events were lost.
   */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
} & (
  | {
      readonly type: 'runStarted';
      readonly pipeline: string;
      readonly resumed: boolean;
      /** In the plan's order. `cells` is undefined for a `foreach` step whose list is not evaluated yet. */
      readonly steps: readonly { readonly name: string; readonly cells?: readonly string[] }[];
    }
  /** The list of a `foreach` step has been evaluated. */
  | { readonly type: 'stepExpanded'; readonly step: string; readonly cells: readonly string[] }
  /** The status of a cell has changed; `cell` is `''` for a plain step. On resume, sent once for each cell beyond `waiting`. */
  | ({
      readonly type: 'cellChanged';
      readonly step: string;
      readonly cell: string;
      /** 0 before the first attempt. */
      readonly attempt: number;
      /** The ID of the run whose outputs and results a reused cell has. */
      readonly reusedFrom?: string;
      readonly containerId?: string;
      /** Why it waits, was skipped or failed. */
      readonly message?: string;
      /** The exposed ports of a cell that runs, by name. */
      readonly ports?: NonNullable<CellView['ports']>;
    } & StatusReport)
  /** The service's message about a container that is not running yet, or the address of a port of one that runs. */
  | {
      readonly type: 'containerState';
      readonly step: string;
      readonly cell: string;
      readonly phase: string;
      readonly message: string;
    }
  | ({ readonly type: 'attemptFailed' } & FailureReport)
  | {
      readonly type: 'transfer';
      /** `across`: from one cluster to another. */
      readonly direction: 'upload' | 'download' | 'across';
      /** Name of the volume or of the pipeline output. */
      readonly name: string;
      readonly files: number;
      readonly totalFiles: number;
      readonly bytes: number;
      readonly totalBytes: number;
      readonly done: boolean;
    }
  | { readonly type: 'approvalAsked'; readonly step: string; readonly message: string }
  /** A problem that does not stop the run, for example a service that does not answer. */
  | { readonly type: 'warning'; readonly message: string; readonly concerns?: WarningTopic }
  | { readonly type: 'runFinished'; readonly report: RunReport }
);

type WithoutNumber<T> = T extends unknown ? Omit<T, 'runId' | 'seq'> : never;

/** An event before it gets the ID of its run and its number. */
export type UnnumberedEvent = WithoutNumber<RunnerEvent>;

/** Receives all events of a run. `report` must not throw and should return quickly. */
export interface Reporter {
  report(event: RunnerEvent): void;
}
