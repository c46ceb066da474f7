import type { SiteLimits } from './placement.ts';

/** The scheduler's options as the run began with them: a replay must use the very same. Plain JSON data. */
export interface SchedulerStart {
  readonly maxInFlight: number;
  /** Milliseconds that steps took in earlier runs, by name. */
  readonly durations?: Readonly<Record<string, number>>;
  readonly limits?: SiteLimits;
  /** A cluster of the run did not mount inputs read-only when it began. */
  readonly checksInputs?: boolean;
  /** Seeds the jitter of back-offs. */
  readonly seed: string;
}
