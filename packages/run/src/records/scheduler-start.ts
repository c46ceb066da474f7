import type { SiteLimits } from './placement.ts';

/** The scheduler's options at the start of the run: a replay must use the same. Plain JSON data. */
export interface SchedulerStart {
  readonly parallelism: number;
  /** Milliseconds that the steps took in earlier runs, by step name. */
  readonly durations?: Readonly<Record<string, number>>;
  readonly limits?: SiteLimits;
  /** A cluster of the run could not mount inputs read-only when the run began. */
  readonly checksInputs?: boolean;
  /** Seed of the jitter in backoffs. */
  readonly seed: string;
}
