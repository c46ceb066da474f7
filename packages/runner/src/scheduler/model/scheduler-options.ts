/** Everything in it must be the same whenever the run's events are replayed; the shell keeps it beside the plan. */
export interface SchedulerOptions {
  /** Containers at once beside the pipeline's own `parallelism`; unbounded where absent. */
  readonly maxInFlight?: number;
  /** Milliseconds that a step took in earlier runs; undefined for unknown. Orders what is ready. */
  readonly durations?: (step: string) => number | undefined;
  /** Limits of the shell's own that a step counts against while a container of it lives, for example its cluster's. */
  readonly limits?: (step: number) => readonly StepLimit[];
  /** Look for an earlier success of every step that runs a container to its end, not only of those with `cache`. */
  readonly looksUpAll?: boolean;
  /** A success counts only when its inputs have been compared: every step with inputs is published. */
  readonly checksInputs?: boolean;
  /** Seeds the jitter of back-offs, for example the run's ID. */
  readonly seed?: string;
  /** SentWarnings of each cell that moves, within `handle`; it must not call back. Replaying needs none. */
  readonly onMove?: (step: number, cell: number) => void;
}

interface StepLimit {
  readonly key: string;
  readonly size: number;
  /** Default 1. */
  readonly amount?: number;
}
