import type { FingerprintDifference, Json, NeedCondition } from '@sluice/core';
import type { CacheMiss } from '../records/journal-record.ts';
import type { RunWarning } from '../records/run-warning.ts';
import type { AttemptOutline } from '../report/attempt-outline.ts';
import type { StatusReport } from '../report/cell-status.ts';
import type { ImageUse } from '../report/list-images.ts';
import type { FailureReport, RunPhase } from '../report/run-report.ts';
import type { PostponeReason } from '../scheduler/model/event.ts';
import type { WaitReason } from '../scheduler/model/wait-reason.ts';
import type { StoryLine } from './trace-cell.ts';

/** Everything in a run's journal that explains the status of a step. Times are in milliseconds since the Unix epoch. */
export interface StepExplanation extends StatusReport {
  readonly runId: string;
  readonly pipeline: string;
  readonly runStatus: RunPhase;
  readonly step: string;
  /** The explained cell; `''` for a plain step. */
  readonly cell: string;
  /** Of a cell of `foreach`. */
  readonly item?: Json;
  /** Cells of the step by status; one entry for a plain step. */
  readonly cells: readonly (StatusReport & { readonly count: number })[];
  /** One line on why it waits, was skipped or failed. */
  readonly message?: string;
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

/** What a cell waits for. */
export type WaitDetails =
  | Exclude<WaitReason, { readonly kind: 'backoff' | 'postponed' }>
  /** The backoff of a retry ends at `dueAt`. */
  | { readonly kind: 'backoff'; readonly attempt: number; readonly dueAt: number }
  /** The service has no capacity, or another run holds it; the submission is repeated at `dueAt` or before. */
  | { readonly kind: 'postponed'; readonly cause: PostponeReason; readonly dueAt: number };

/** Why a cell waits, and what the user can do. */
export type WaitExplanation = WaitDetails & {
  readonly message: string;
  /** When the wait began. */
  readonly startedAt: number;
  /** Absent if there is nothing to do but wait. */
  readonly advice?: string;
};

/** A dependency, the condition for it to be satisfied, and its status. */
export interface DependencyExplanation extends StatusReport {
  readonly step: string;
  readonly condition: NeedCondition;
}

/** One attempt of the explained cell. */
export interface AttemptExplanation extends AttemptOutline {
  /** How often the submission was postponed, and the last reason. */
  readonly postponed?: { readonly times: number; readonly cause: string };
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
      readonly cause: CacheMiss['reason'];
      /** Of `rerun`: the step before it that was executed in this run; absent if the rerun has another reason. */
      readonly after?: string;
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
