import type { WarningTopic } from '../journal/run-warning.ts';
import type { CellState } from '../scheduler/model/cell-state.ts';
import type { FailureReport, RunReport } from './run-report.ts';

/** What a run tells the outside while it goes on: rendered by the command line, printed as NDJSON by `--json`. Plain JSON data. */
export type RunnerEvent =
  | {
      readonly type: 'runStarted';
      readonly at: number;
      readonly runId: string;
      readonly pipeline: string;
      readonly resumed: boolean;
      /** In the plan's order. `cells` is undefined for a `foreach` step that is not decided yet. */
      readonly steps: readonly { readonly name: string; readonly cells?: readonly string[] }[];
    }
  /** A `foreach` step knows its cells. */
  | { readonly type: 'stepExpanded'; readonly at: number; readonly step: string; readonly cells: readonly string[] }
  /** A cell has moved; `cell` is `''` for a plain step. On resume, sent once for each cell that is beyond `waiting`. */
  | {
      readonly type: 'cellChanged';
      readonly at: number;
      readonly step: string;
      readonly cell: string;
      readonly state: CellState;
      /** 0 before the first attempt. */
      readonly attempt: number;
      readonly containerID?: string;
      /** Why it waits, was skipped or failed. */
      readonly reason?: string;
    }
  /** The service's own words about a container that is not running yet, such as an image pull. */
  | {
      readonly type: 'containerState';
      readonly at: number;
      readonly step: string;
      readonly cell: string;
      readonly phase: string;
      readonly state: string;
    }
  | { readonly type: 'attemptFailed'; readonly at: number; readonly failure: FailureReport }
  | {
      readonly type: 'transfer';
      readonly at: number;
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
  | { readonly type: 'approvalAsked'; readonly at: number; readonly step: string; readonly message: string }
  /** Something the user should know that stops nothing, such as a service that does not answer. */
  | { readonly type: 'warning'; readonly at: number; readonly message: string; readonly concerns?: WarningTopic }
  | { readonly type: 'runFinished'; readonly at: number; readonly report: RunReport };

/** One object that the shell tells everything to. `report` must not throw and should return quickly. */
export interface Reporter {
  report(event: RunnerEvent): void;
}
