import type { PostponeReason } from './event.ts';

/** Why a cell does not start: the answer to "why is this waiting?". */
export type WaitReason =
  /** These steps are not over, or a service among them is not ready. Sorted by the file's order. */
  | { readonly kind: 'dependency'; readonly steps: readonly string[] }
  /** A step of `finally` waits until all other steps have finished. */
  | { readonly kind: 'finally'; readonly open: number }
  /** `when` or `foreach` is being evaluated. */
  | { readonly kind: 'decision' }
  /** A cached result is being looked for. */
  | { readonly kind: 'lookUp' }
  | { readonly kind: 'approval' }
  /** The run's own bound on containers at once. */
  | { readonly kind: 'parallelism'; readonly used: number; readonly size: number }
  | { readonly kind: 'maxParallel'; readonly used: number; readonly size: number }
  | {
      readonly kind: 'pool';
      readonly pool: string;
      readonly used: number;
      readonly size: number;
      readonly needed: number;
    }
  /** A limit that the shell named, for example per cluster or instance type. */
  | {
      readonly kind: 'limit';
      readonly limit: string;
      readonly used: number;
      readonly size: number;
      readonly needed: number;
    }
  /** A retry waits for its time. */
  | { readonly kind: 'backoff'; readonly until: number; readonly attempt: number }
  /** The submission was put off by the service or by another run. */
  | { readonly kind: 'postponed'; readonly reason: PostponeReason; readonly until: number; readonly detail?: string }
  /** It is the next, and a step that was placed before it has not been started yet. */
  | { readonly kind: 'turn' };
