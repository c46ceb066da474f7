import type { WarningTopic } from '../journal/run-warning.ts';
import type { CellState } from '../scheduler/model/cell-state.ts';
import type { FailureReport, RunReport } from './run-report.ts';

/** Progress of a run: rendered by the command line, printed as NDJSON by `--json`. Plain JSON data. */
export type RunnerEvent =
  | {
      readonly type: 'runStarted';
      readonly at: number;
      readonly runId: string;
      readonly pipeline: string;
      readonly resumed: boolean;
      /** In the plan's order. `cells` is undefined for a `foreach` step whose list is not evaluated yet. */
      readonly steps: readonly { readonly name: string; readonly cells?: readonly string[] }[];
    }
  /** The list of a `foreach` step has been evaluated. */
  | { readonly type: 'stepExpanded'; readonly at: number; readonly step: string; readonly cells: readonly string[] }
  /** The state of a cell has changed; `cell` is `''` for a plain step. On resume, sent once for each cell beyond `waiting`. */
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
  /** The service's message about a container that is not running yet, for example during an image pull. */
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
  /** A problem that does not stop the run, for example a service that does not answer. */
  | { readonly type: 'warning'; readonly at: number; readonly message: string; readonly concerns?: WarningTopic }
  | { readonly type: 'runFinished'; readonly at: number; readonly report: RunReport };

/** Receives all events of a run. `report` must not throw and should return quickly. */
export interface Reporter {
  report(event: RunnerEvent): void;
}
