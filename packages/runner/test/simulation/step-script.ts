import type { Tolerance } from '@sluice/core';

/** The keys of the parts that one cell lists, in order; `broken`: it writes what is no list of items. */
export type PartList = readonly string[] | 'broken';

/** What a step's containers do, attempt by attempt; the last entry holds for all later ones. */
export interface StepScript {
  readonly name: string;
  readonly needs: readonly string[];
  /** Steps whose output it mounts. */
  readonly inputs: readonly string[];
  readonly hasOutput: boolean;
  /** Cells of a matrix; 1 is a plain step. */
  readonly cells: number;
  /** It is an approval, without a container. */
  readonly asks?: boolean;
  /** The cells come from a `foreach`, known only when it is decided; `broken`: which cannot be evaluated. */
  readonly foreach?: 'list' | 'broken' | undefined;
  /** It has a cell for each item of this axis. */
  readonly each?: 'sample' | 'part' | undefined;
  /** Its cells list the items of the axis `part`: one list for each sample, or one. */
  readonly lists?: readonly PartList[];
  /** Cells of which all attempts fail. */
  readonly fails?: readonly string[];
  readonly retries: number;
  readonly timeoutMs?: number | undefined;
  readonly continueOnError: Tolerance;
  /** `hang`: runs until it is canceled. */
  readonly attempts: readonly ('succeed' | 'fail' | 'oom' | 'break' | 'vanish' | 'replaced' | 'hang')[];
  readonly runMs: number;
  /** How long its containers wait at the service. */
  readonly pendingMs?: number;
  /** Tokens that it holds of the world's pools. */
  readonly pools?: Readonly<Record<string, number>>;
  /** Where it may run, the best first; absent: on the run's own cluster. */
  readonly clusters?: readonly string[];
  /** Inputs that it is given as private copies, to which its programs write. */
  readonly writable?: readonly string[];
  /** Attempts whose programs write to the inputs that they were not given as writable. */
  readonly spoils?: readonly number[];
}
