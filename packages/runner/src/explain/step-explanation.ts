import type { FingerprintDifference, Json, NeedCondition } from '@sluice/core';
import type { CacheMiss } from '../journal/journal-record.ts';
import type { RunWarning } from '../journal/run-warning.ts';
import type { AttemptOutline } from '../report/attempt-outline.ts';
import type { ImageUse } from '../report/list-images.ts';
import type { FailureReport, RunPhase } from '../report/run-report.ts';
import type { CellState } from '../scheduler/model/cell-state.ts';
import type { WaitReason } from '../scheduler/model/wait-reason.ts';
import type { StoryLine } from './trace-cell.ts';

/** Everything that a run's journal can answer about "why is this step as it is". Plain JSON data. */
export interface StepExplanation {
  readonly runId: string;
  readonly pipeline: string;
  readonly status: RunPhase;
  readonly step: string;
  /** The cell that the rest is about; `''` for a plain step. */
  readonly cell: string;
  /** Of a cell of `foreach`. */
  readonly item?: Json;
  readonly state: CellState;
  /** Cells of the step by state; one entry for a plain step. */
  readonly cells: readonly { readonly state: CellState; readonly count: number }[];
  /** One line on why it waits, was skipped or failed. */
  readonly reason?: string;
  readonly wait?: WaitExplanation;
  /** The step's text has a pipe, and a shell with `pipefail` is chosen for it where it runs. */
  readonly pipefail?: true;
  readonly dependencies: readonly DependencyExplanation[];
  readonly attempts: readonly AttemptExplanation[];
  /** Of a step with an image. */
  readonly image?: Omit<ImageUse, 'steps'>;
  readonly cache: CacheExplanation;
  /** Of the run, about replies to questions about containers; only of a cell that has asked for one. */
  readonly warnings?: readonly RunWarning[];
  /** Everything that happened to the cell, oldest first. */
  readonly story: readonly StoryLine[];
}

export interface WaitExplanation {
  readonly reason: WaitReason;
  readonly message: string;
  readonly since: number;
  /** What a person can do about it, where they can. */
  readonly advice?: string;
}

export interface DependencyExplanation {
  readonly step: string;
  readonly condition: NeedCondition;
  readonly state: CellState;
}

export interface AttemptExplanation extends AttemptOutline {
  /** How often the submission was put off, and why the last time. */
  readonly postponed?: { readonly times: number; readonly reason: string };
  readonly failure?: FailureReport;
  /** Whether another attempt followed, and which rule said so. */
  readonly retry?: string;
}

export type CacheExplanation =
  /** The step has no `cache`. */
  | { readonly kind: 'off' }
  /** Not looked for yet, or the step never came so far. */
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
      /** The newest success of this cell before, and what was different there; absent: there was none. */
      readonly nearest?: { readonly runId: string; readonly differences: readonly InputDifference[] };
      /** Why there is nothing to compare with, although there was an earlier success. */
      readonly problem?: string;
    };

export interface InputDifference extends FingerprintDifference {
  /** The step that the input comes from: `sluice why` says of it why it yielded something else. */
  readonly from?: string;
}
