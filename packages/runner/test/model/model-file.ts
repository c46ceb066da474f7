import type { Json } from '@sluice/core';

/** A pipeline file as the model test writes it: a part of the language that a plain interpreter can follow. */
export interface ModelFile {
  readonly version: 1;
  readonly name: string;
  readonly failFast: false;
  readonly params: Readonly<Record<string, Json>>;
  readonly volumes: { readonly raw: { readonly source: string } };
  /** Absent if no step has `each`. */
  readonly axes?: Readonly<Record<string, Json>>;
  readonly steps: Readonly<Record<string, ModelStep>>;
  readonly outputs: Readonly<Record<string, { readonly from: string; readonly publish: string }>>;
}

/** An input of a step with rules of its own. */
export interface ModelInput {
  readonly from: string | readonly string[];
  readonly where?: Readonly<Record<string, string>>;
  readonly all?: string;
  readonly optional?: true;
}

export interface ModelStep {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly inputs?: Readonly<Record<string, string | ModelInput>>;
  readonly outputs: Readonly<Record<string, string>>;
  readonly results: Readonly<Record<string, string>>;
  readonly each?: readonly string[];
  readonly matrix?: Readonly<Record<string, string | readonly Json[]>>;
  readonly foreach?: string;
  readonly needs?: Readonly<Record<string, string>>;
  readonly when?: string;
  readonly continueOnError?: boolean;
  readonly retry?: {
    readonly limit: number;
    readonly on: readonly string[];
    readonly backoff: { readonly initial: string };
  };
  readonly cache?: true | { readonly key?: string; readonly ignore?: readonly string[] };
  readonly placement?: { readonly ordered: readonly string[] };
}

/** One run of a pipeline, and what the world is like meanwhile. */
export interface ModelRun {
  readonly file: ModelFile;
  readonly params: Readonly<Record<string, Json>>;
  /** Files of the local source. */
  readonly source: Readonly<Record<string, string>>;
  readonly clusterID: string;
  /** Index of the earlier run of the pipeline whose successes are reused, and the steps that are rerun. */
  readonly reuse?: { readonly of: number; readonly from: readonly string[] };
  /** The runner leaves the run so many milliseconds after its start, and takes it up again. */
  readonly leaveAfterMs?: number;
  /** Old runs are collected before this one. */
  readonly collectsGarbage: boolean;
  /** Decides which containers fail and which are lost. */
  readonly luck: string;
}

export const HOME = 'sim';
export const FAR = 'far';

/** The files of one directory, by path. */
export type Tree = ReadonlyMap<string, string>;
