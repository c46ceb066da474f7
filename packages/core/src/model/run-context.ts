import type { Json } from './json.ts';
import type { Input, Output, ResultSpec } from './pipeline.ts';
import type { StepReason, StepStatus } from './step-status.ts';

/** The facts that expressions can use. Plain data except for the `steps` lookup. */
export interface RunContext {
  readonly run: {
    readonly id: string;
    readonly name: string;
    /** The planned time of the run, as `2026-11-21T02:30:00Z`. */
    readonly plannedTime: string;
    readonly status?: string;
  };
  /** From 1. */
  readonly attempt: number;
  /** Facts of a step that has ended or (for `ports`) is running; undefined for any other step. */
  readonly steps: (name: string) => StepFacts | undefined;
  /** Values of secrets by name. Only for notifications, whose text is sent and not stored. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** What expressions can read of a step. */
export interface StepFacts {
  readonly status: StepStatus;
  readonly reason?: StepReason;
  /** The outputs and results are those of an earlier run. */
  readonly reused?: boolean;
  /**
   * By result name. For a step with `matrix` or `foreach`: the list of its cells' values, in the order of the cells.
   */
  readonly results: Readonly<Record<string, Json>>;
  readonly ports?: Readonly<Record<string, { readonly url?: string; readonly host?: string; readonly port?: number }>>;
  /**
   * Places of the published outputs as text for people, never mounted from here. For a step with `matrix` or `foreach`:
   * the list of its cells' places, with `null` for a cell without one.
   */
  readonly outputs?: Readonly<Record<string, Json>>;
}

/** A container with all expressions evaluated, before volumes and instance types are chosen. */
export interface ResolvedContainer {
  readonly image?: string;
  readonly command?: readonly string[];
  /** The readiness command of a service. */
  readonly ready?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables whose values are secrets, which are in no other field. Sorted by `env`. */
  readonly secrets: readonly { readonly env: string; readonly secret: string }[];
  readonly instanceType?: string;
  readonly ports: Readonly<Record<string, { readonly https: boolean }>>;
  readonly inputs: readonly ({ readonly name: string } & Input)[];
  readonly outputs: readonly ({ readonly name: string } & Omit<Output, 'retain' | 'temporary'>)[];
  readonly results: readonly ({ readonly name: string } & ResultSpec)[];
}
