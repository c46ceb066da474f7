import type { Json } from './json.ts';
import type { JsonType } from './json-type.ts';

/** Text that may hold `${{ … }}` expressions; checked when the file is read, evaluated when a step is about to start. */
export type Template = string;

/** A value whose strings may be templates; a string that is one whole expression keeps that expression's type. */
export type JsonTemplate = Json;

/**
 * The checked pipeline: plain JSON data, the same from YAML, JSON and the builder, with every short form and default
 * resolved. Durations are milliseconds, sizes are bytes. Meaning of each key: docs/pipeline.md.
 */
export interface Pipeline {
  readonly version: 1;
  readonly name: string;
  readonly description?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, Param>>;
  readonly env: Readonly<Record<string, Template>>;
  readonly secrets: readonly string[];
  readonly volumes: Readonly<Record<string, NamedVolume>>;
  /** In the file's order. */
  readonly steps: readonly Step[];
  readonly finally: readonly Step[];
  readonly outputs: Readonly<Record<string, PipelineOutput>>;
  readonly parallelism?: number;
  readonly failFast: boolean;
  readonly timeoutMs?: number;
  readonly concurrency?: Concurrency;
  readonly pools: Readonly<Record<string, number>>;
  readonly placement?: Placement;
  readonly schedule?: Schedule;
  readonly notify: readonly Notify[];
}

export interface Param {
  readonly type: JsonType;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required: boolean;
  readonly description?: string;
}

/** Exactly one of `id` (existing volume of the service) and `source` (local path, relative to the pipeline file), or neither: a volume of the pipeline's own. */
export interface NamedVolume {
  readonly id?: string;
  readonly source?: string;
  readonly retain: boolean;
}

export interface Step {
  readonly name: string;
  readonly description?: string;
  readonly image?: Template;
  /** argv; a string command or a script has become its interpreter's argv. Absent: the image's own, or none for `approval`. */
  readonly command?: readonly Template[];
  /** Pipeline, defaults and step merged. */
  readonly env: Readonly<Record<string, Template>>;
  readonly secrets: readonly string[];
  readonly inputs: Readonly<Record<string, Input>>;
  readonly outputs: Readonly<Record<string, Output>>;
  readonly results: Readonly<Record<string, ResultSpec>>;
  readonly needs: readonly Need[];
  readonly when?: Template;
  readonly matrix?: Matrix;
  /** A template that yields a list, known only at run time. */
  readonly foreach?: Template;
  /** The readable key of a cell, from its `item`; absent: made from the item itself. */
  readonly foreachKey?: Template;
  readonly maxParallel?: number;
  readonly instanceType?: Template;
  readonly resources?: Resources;
  readonly placement?: Placement;
  readonly pools: Readonly<Record<string, number>>;
  readonly priority: number;
  readonly retry: Retry;
  readonly timeoutMs?: number;
  readonly queueTimeoutMs?: number;
  readonly deadlineMs?: number;
  readonly continueOnError: boolean;
  readonly cache?: Cache;
  readonly ports: Readonly<Record<string, { readonly https: boolean }>>;
  readonly service?: ServiceStep;
  readonly approval?: Approval;
}

export interface Input {
  readonly from:
    | { readonly step: string; readonly output: string }
    | { readonly volume: string; readonly path: string };
  /** Mount point. */
  readonly path: string;
  /** The step may write to it: to a private copy, or to the shared volume itself where `from` is one. Absent: it is read-only. */
  readonly writable?: true;
}

export interface Output {
  readonly path: string;
  readonly retain: boolean;
  /** Glob patterns, relative to `path`; each must match a file, or the attempt fails. */
  readonly expect?: readonly string[];
}

export interface ResultSpec {
  readonly type: JsonType;
  /** File name under `/sluice/results`. */
  readonly file: string;
}

export type NeedCondition = 'succeeded' | 'failed' | 'completed' | 'skipped' | 'running';

export interface Need {
  readonly step: string;
  readonly condition: NeedCondition;
}

export interface Matrix {
  /** Axis name to its values, or to a template that yields the list from parameters. */
  readonly axes: Readonly<Record<string, JsonTemplate>>;
  readonly include: readonly Readonly<Record<string, JsonTemplate>>[];
  readonly exclude: readonly Readonly<Record<string, JsonTemplate>>[];
}

export interface Resources {
  readonly cpu?: number;
  readonly memoryBytes?: number;
  readonly gpu?: number;
  readonly gpuModel?: string;
}

export interface Placement {
  readonly cluster?: string;
  readonly anyOf?: readonly string[];
  readonly ordered?: readonly string[];
}

/** The classes of failure, decided before any exit-code rule. */
export type FailureClass = 'failed' | 'oom' | 'timeout' | 'infrastructure';

export interface Retry {
  /** Extra attempts beyond the first, for the classes in `on`. */
  readonly limit: number;
  readonly on: readonly FailureClass[];
  /** Only these exit codes are tried again, where given. */
  readonly exitCodes?: readonly number[];
  readonly backoff: { readonly initialMs: number; readonly factor: number; readonly maxMs: number };
  readonly escalate: readonly (string | Resources)[];
  /** Budget of their own for infrastructure failures, beside `limit`. */
  readonly infrastructureLimit: number;
}

export interface Cache {
  readonly key?: Template;
  readonly maxAgeMs?: number;
  /** Environment variables and inputs that do not count. */
  readonly ignore: readonly string[];
}

export interface ServiceStep {
  readonly ready?: { readonly port: string; readonly path: string } | { readonly command: readonly Template[] };
}

export interface Approval {
  readonly message?: Template;
  readonly timeoutMs?: number;
}

export interface PipelineOutput {
  readonly from: { readonly step: string; readonly output: string };
  /** Local directory, relative to the pipeline file. */
  readonly publish?: string;
}

export interface Concurrency {
  readonly group: Template;
  readonly limit: number;
  readonly behavior: 'queue' | 'cancel' | 'fail';
}

export interface Schedule {
  readonly cron: readonly string[];
  readonly timezone: string;
  readonly overlap: 'allow' | 'skip' | 'queue' | 'replace';
  readonly catchup: 'none' | 'latest' | 'all';
  readonly startingDeadlineMs?: number;
}

export interface Notify {
  readonly on: readonly ('succeeded' | 'failed' | 'canceled')[];
  readonly webhook?: Template;
  readonly command?: readonly Template[];
}
