import type { PostponeReason } from './event.ts';

/** Why a cell does not start: the answer to "why is this waiting?". */
export type WaitReason =
  /** These steps have not ended, or a service among them is not ready. In the order of the file. */
  | { readonly kind: 'dependency'; readonly steps: readonly string[] }
  /** A step of `finally` waits until all other steps have finished. */
  | { readonly kind: 'finally'; readonly open: number }
  /** `when` or `foreach` is being evaluated. */
  | { readonly kind: 'decision' }
  /** A cache lookup is in progress. */
  | { readonly kind: 'lookUp' }
  | { readonly kind: 'approval' }
  /** The run's own limit of concurrent containers. */
  | { readonly kind: 'parallelism'; readonly used: number; readonly size: number }
  /** As many items of an axis are in progress as its `parallelism` allows. */
  | { readonly kind: 'items'; readonly axis: string; readonly used: number; readonly size: number }
  | { readonly kind: 'stepParallelism'; readonly used: number; readonly size: number }
  | {
      readonly kind: 'pool';
      readonly pool: string;
      readonly used: number;
      readonly size: number;
      readonly needed: number;
    }
  /** A limit defined by the shell, for example per cluster or instance type. */
  | {
      readonly kind: 'limit';
      readonly limit: string;
      readonly used: number;
      readonly size: number;
      readonly needed: number;
    }
  /** A retry waits for its backoff. */
  | { readonly kind: 'backoff'; readonly until: number; readonly attempt: number }
  /** The submission was postponed because of the service or another run. */
  | { readonly kind: 'postponed'; readonly reason: PostponeReason; readonly until: number; readonly detail?: string }
  /** Queued behind a step with a higher priority that has not been started yet. */
  | { readonly kind: 'queued' };
