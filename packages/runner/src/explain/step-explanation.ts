import type { FingerprintDifference, Json, NeedCondition } from '@sluice/core';
import type { CacheMiss } from '../journal/journal-record.ts';
import type { RunWarning } from '../journal/run-warning.ts';
import type { AttemptOutline } from '../report/attempt-outline.ts';
import type { ImageUse } from '../report/list-images.ts';
import type { FailureReport, RunPhase } from '../report/run-report.ts';
import type { CellState } from '../scheduler/model/cell-state.ts';
import type { WaitReason } from '../scheduler/model/wait-reason.ts';
import type { StoryLine } from './trace-cell.ts';

/** Everything in a run's journal that explains the state of a step. Plain JSON data. */
export interface StepExplanation {
  readonly runId: string;
  readonly pipeline: string;
  readonly status: RunPhase;
  readonly step: string;
  /** The explained cell; `''` for a plain step. */
  readonly cell: string;
  /** Of a cell of `foreach`. */
  readonly item?: Json;
  readonly state: CellState;
  /** Cells of the step by state; one entry for a plain step. */
  readonly cells: readonly { readonly state: CellState; readonly count: number }[];
  /** One line on why it waits, was skipped or failed. */
  readonly reason?: string;
  readonly wait?: WaitExplanation;
  /** The step's command contains a pipe, and runs in a shell with `pipefail` if the image has one. */
  readonly pipefail?: true;
  readonly dependencies: readonly DependencyExplanation[];
  readonly attempts: readonly AttemptExplanation[];
  /** Of a step with an image. */
  readonly image?: Omit<ImageUse, 'steps'>;
  readonly cache: CacheExplanation;
  /** The run's warnings about the service's replies; only for a cell that has requested a container. */
  readonly warnings?: readonly RunWarning[];
  /** Everything that happened to the cell, oldest first. */
  readonly story: readonly StoryLine[];
}

/** Why a cell waits, since when in milliseconds since the Unix epoch, and what the user can do. */
export interface WaitExplanation {
  readonly reason: WaitReason;
  readonly message: string;
  readonly since: number;
  /** Absent if there is nothing to do but wait. */
  readonly advice?: string;
}

/** A dependency, the condition for it to be satisfied, and its state. */
export interface DependencyExplanation {
  readonly step: string;
  readonly condition: NeedCondition;
  readonly state: CellState;
}

/** One attempt of the explained cell. */
export interface AttemptExplanation extends AttemptOutline {
  /** How often the submission was postponed, and the last reason. */
  readonly postponed?: { readonly times: number; readonly reason: string };
  readonly failure?: FailureReport;
  /** Whether another attempt followed, and which rule decided this. */
  readonly retry?: string;
}

/** The result of the cache lookup. */
export type CacheExplanation =
  /** The step has no `cache`. */
  | { readonly kind: 'off' }
  /** There was no lookup, or not yet. */
  | { readonly kind: 'unasked' }
  | {
      readonly kind: 'hit';
      readonly fingerprint: string;
      readonly runId: string;
      readonly step: string;
      readonly cell: string;
    }
  | {
      readonly kind: 'missed';
      readonly fingerprint: string;
      readonly reason: CacheMiss['reason'];
      /** The newest earlier success of this cell, and how it differs; absent if there is none. */
      readonly nearest?: { readonly runId: string; readonly differences: readonly InputDifference[] };
      /** Why the earlier success cannot be compared. */
      readonly problem?: string;
    };

/** A component of the fingerprint that differs from that of the earlier success. */
export interface InputDifference extends FingerprintDifference {
  /** The step that produces the input: `sluice why` explains why its output differs. */
  readonly from?: string;
}
