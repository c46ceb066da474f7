/** All options must be identical whenever the run's events are replayed; the shell stores them beside the plan. */
export interface SchedulerOptions {
  /** Limits the run's concurrent containers, in addition to the pipeline's `parallelism`; default: unlimited. */
  readonly parallelism?: number;
  /** Milliseconds that a step took in earlier runs; undefined if unknown. Used to order ready cells. */
  readonly durations?: (step: string) => number | undefined;
  /**
   * Additional limits of the shell that a cell counts against while its container is live, for example the limit of its
   * cluster. Cells whose limits are the same list share a queue, and cells that only a run knows have those of cell 0.
   */
  readonly limits?: (step: number, cell: number) => readonly CellLimit[];
  /** Look for an earlier success of every step that runs a container to its end, not only of those with `cache`. */
  readonly looksUpAll?: boolean;
  /** A success counts only after its inputs have been compared: every step with inputs is published. */
  readonly checksInputs?: boolean;
  /** Seeds the jitter of backoffs, for example the run's ID. */
  readonly seed?: string;
  /**
   * Called for each cell that moves, within `handle`; it must not call back into the scheduler. Not needed for a
   * replay.
   */
  readonly onMove?: (step: number, cell: number) => void;
}

interface CellLimit {
  readonly key: string;
  readonly size: number;
  /** Default 1. */
  readonly amount?: number;
}
