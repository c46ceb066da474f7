import type { Json } from './json.ts';
import type { Input, Output, Resources, ResultSpec } from './pipeline.ts';
import type { StepFailure, StepStatus } from './step-status.ts';

/** What the runner knows when an expression is evaluated. Plain data beside the `steps` look-up. */
export interface RunContext {
  readonly run: {
    readonly id: string;
    readonly name: string;
    /** What time the run is for, as `2026-11-21T02:30:00Z`. */
    readonly plannedTime: string;
    readonly status?: string;
  };
  /** From 1. */
  readonly attempt: number;
  /** Facts of a step that has ended or (for `ports`) is running; undefined for any other step. */
  readonly steps: (name: string) => StepFacts | undefined;
  /** Values of secrets by name, for a notification only: the text goes where it is sent and nowhere else. */
  readonly secrets?: Readonly<Record<string, string>>;
}

export interface StepFacts {
  readonly status: StepStatus;
  readonly failure?: StepFailure;
  /** By result name. Of a step with `matrix` or `foreach`: the list of its cells' values, in the order of the cells. */
  readonly results: Readonly<Record<string, Json>>;
  readonly ports?: Readonly<Record<string, { readonly url?: string; readonly host?: string; readonly port?: number }>>;
  /**
   * Published places of the outputs, as text for people; never mounted from here. Of a step with `matrix` or `foreach`:
   * the list of its cells' places, `null` for a cell that has none.
   */
  readonly outputs?: Readonly<Record<string, Json>>;
}

/** A container with every expression evaluated: what to run, before volumes and instance types are chosen. */
export interface ResolvedContainer {
  readonly image?: string;
  readonly command?: readonly string[];
  /** Of a service whose readiness is a command. */
  readonly ready?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables whose values the runner takes from its secrets; they are in no other field. Sorted by `env`. */
  readonly secrets: readonly { readonly env: string; readonly secret: string }[];
  readonly instanceType?: string;
  readonly resources?: Resources;
  readonly ports: Readonly<Record<string, { readonly https: boolean }>>;
  readonly inputs: readonly ({ readonly name: string } & Input)[];
  readonly outputs: readonly ({ readonly name: string } & Omit<Output, 'retain'>)[];
  readonly results: readonly ({ readonly name: string } & ResultSpec)[];
}
