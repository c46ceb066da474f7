import type { JunitOptions } from './write-junit.ts';

/** Options of commands that follow a run to its end. */
export interface FollowOptions extends JunitOptions {
  /** Print only errors, and the report of a run that has not succeeded; with `json`, the report of any run. */
  readonly quiet?: boolean;
}
