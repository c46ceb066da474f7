import type { CellTemplates } from './cell-templates.ts';
import type { DockerOptions, SlurmOptions } from './engine-options.ts';
import type { JsonType } from './json-type.ts';
import type { BoundValue, Param } from './param.ts';
import type { JsonTemplate, Template } from './template.ts';
import type { Tolerance } from './tolerance.ts';

/**
 * The checked pipeline as plain JSON data, equal for YAML, JSON and the builder, with every short form and default
 * resolved. Durations are in milliseconds, sizes in bytes. docs/pipeline.md describes each key.
 */
export interface Pipeline {
  readonly version: 1;
  readonly name: string;
  readonly description?: string;
  /** Labels of every container. */
  readonly labels: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, Param>>;
  /** Lists and maps of used files, which the expressions of their steps read as `bound.<name>`. */
  readonly bound?: Readonly<Record<string, BoundValue>>;
  /** By step that uses a pipeline file: the names of the steps of that file, as they are here. Absent if there is none. */
  readonly used?: Readonly<Record<string, readonly string[]>>;
  /** Environment variables of every step. */
  readonly env: Readonly<Record<string, Template>>;
  /** Names of the secrets that must exist when a run starts. */
  readonly secrets: readonly string[];
  readonly volumes: Readonly<Record<string, NamedVolume>>;
  /** By name; absent if the file declares none. */
  readonly axes?: Readonly<Record<string, Axis>>;
  /** In the order of the file. */
  readonly steps: readonly Step[];
  /** Run after all `steps`, whatever their outcome. */
  readonly finally: readonly Step[];
  readonly outputs: Readonly<Record<string, PipelineOutput>>;
  /** The results of the run, by name. Absent if the file declares none. */
  readonly results?: Readonly<Record<string, PipelineResult>>;
  /** Most containers of a run at once. */
  readonly parallelism?: number;
  /** After a failure, no further steps start. */
  readonly failFast: boolean;
  /** Limit for the whole run. */
  readonly timeoutMs?: number;
  readonly concurrency?: Concurrency;
  /** Pool name to its number of slots. */
  readonly pools: Readonly<Record<string, number>>;
  readonly placement?: Placement;
  readonly schedule?: Schedule;
  readonly notify: readonly Notify[];
}

/**
 * An existing volume (`id`), a volume made from local files (`source`, relative to the pipeline file), or with neither,
 * a volume of the pipeline. Never both.
 */
export interface NamedVolume {
  readonly id?: string;
  readonly source?: string;
  /** Patterns in the syntax of gitignore: what of `source` is not uploaded. */
  readonly exclude?: readonly string[];
  /** False: each run has its own volume, which `sluice gc` removes with the run. */
  readonly retain: boolean;
  /** Axes: each combination of their items has a directory of its own in the volume. */
  readonly each?: readonly string[];
}

/**
 * A dimension of a pipeline, such as its samples: a step with `each` has a cell for each of its items. Exactly one of
 * `items`, `files` and `distinct` is set.
 */
export interface Axis {
  /** The list, or a template that yields it. */
  readonly items?: JsonTemplate;
  /** The items are the files of a volume with `source` whose paths match the pattern. */
  readonly files?: { readonly volume: string; readonly pattern: string };
  /** The items are the values of a field of another axis's items; an empty value is none. */
  readonly distinct?: { readonly axis: string; readonly field: string };
  /** The exact key of an item, from `item`. Absent: the item itself, which is then no list or map; of a
   * file, its `stem`.
   */
  readonly key?: Template;
  /** From axis to the field of an item whose value is a key of that axis, which the item then implies. */
  readonly of: Readonly<Record<string, string>>;
  /** The most items that are in progress at once: from the start of their first cell to the end of their last one. */
  readonly parallelism?: number;
}

/** A step with all short forms and defaults resolved. */
export interface Step {
  readonly name: string;
  readonly description?: string;
  /** Absent or empty: the file system that the engine provides. */
  readonly image?: Template;
  /**
   * The argv; a script or string command is already wrapped in its interpreter. Absent: the image's own, or none for
   * `approval`.
   */
  readonly command?: readonly Template[];
  /** Merged from pipeline, defaults and step. */
  readonly env: Readonly<Record<string, Template>>;
  /** Names of secrets, which become variables of the same names. */
  readonly secrets: readonly string[];
  readonly inputs: Readonly<Record<string, Input>>;
  readonly outputs: Readonly<Record<string, Output>>;
  readonly results: Readonly<Record<string, ResultSpec>>;
  readonly needs: readonly Need[];
  /** A template that yields a boolean; if false, the step is skipped. */
  readonly when?: Template;
  /** The axes for whose items the step has cells. Excludes `matrix` and `foreach`. */
  readonly each?: readonly string[];
  readonly matrix?: Matrix;
  /** A template that yields a list, known only during the run, or the list itself. */
  readonly foreach?: Template | readonly JsonTemplate[];
  /** The readable key of a cell, from its `item`; absent: derived from the item itself. */
  readonly foreachKey?: Template;
  /** Maximum number of concurrent cells of this step. */
  readonly parallelism?: number;
  /** Absent: the smallest that has the `resources`. */
  readonly instanceType?: Template;
  readonly resources?: Resources;
  /** The command is started several times: on so many nodes, so many times on each. Absent: once. */
  readonly tasks?: { readonly nodes: number; readonly perNode: number };
  /** Only for clusters with the engine `docker`; others ignore it. */
  readonly docker?: DockerOptions;
  /** Only for clusters with the engine `slurm`; others ignore it. */
  readonly slurm?: SlurmOptions;
  readonly placement?: Placement;
  /** Pool name to the number of slots that one attempt holds. */
  readonly pools: Readonly<Record<string, number>>;
  /** Higher values start first. */
  readonly priority: number;
  readonly retry: Retry;
  /** What each cell has of its own. The other keys of the step have only what is the same for all. */
  readonly perCell?: CellTemplates;
  /** Limit for the run time of one attempt. */
  readonly timeoutMs?: number;
  /** Limit for the waiting time of one attempt. */
  readonly queueTimeoutMs?: number;
  /** Limit for all attempts together. */
  readonly deadlineMs?: number;
  /**
   * Failed cells that do not fail the run, and that a directory of cells omits; they count for the step and again for each
   * directory.
   */
  readonly continueOnError: Tolerance;
  readonly cache?: Cache;
  readonly ports: Readonly<Record<string, { readonly https: boolean }>>;
  readonly service?: ServiceStep;
  readonly approval?: Approval;
}

/** An output of a step, or with `path` the file or directory at this relative path in it. */
export interface StepSource {
  readonly step: string;
  readonly output: string;
  /** Absent: the whole output. In an input, a template that may read `each`. */
  readonly path?: Template;
}

/** A mounted edge. */
export interface Input {
  readonly from: StepSource | { readonly volume: string; readonly path: Template };
  /** Mount point in the container, absolute. */
  readonly path: string;
  /**
   * The step may write to a private copy, or, if `from` is a shared volume, to that volume itself. Absent: read-only.
   */
  readonly writable?: true;
  /** Sources that are used instead, in this order, where the cell of every earlier one was skipped. */
  readonly or?: readonly StepSource[];
  /** By axis: the key of the items whose cells are meant, or a list of keys. They replace the items of this cell. */
  readonly where?: Readonly<Record<string, JsonTemplate>>;
  /** Axes whose items do not have to agree with those of this cell. */
  readonly all?: readonly string[];
  /** An empty directory is mounted if there is no success; otherwise this cell is skipped. */
  readonly optional?: true;
}

/** An outgoing edge. */
export interface Output {
  /** Mount point in the container, absolute. */
  readonly path: string;
  /** Whether `sluice gc` keeps a run because of this output. */
  readonly retain: boolean;
  /** Removed during the run, when no cell needs it any more. */
  readonly temporary?: true;
  /** Glob patterns relative to `path`; each must match a file, or the attempt fails. */
  readonly expect?: readonly string[];
}

/** A result that the container writes as a file. */
export interface ResultSpec {
  readonly type: JsonType;
  /** File name under `/sluice/results`. */
  readonly file: string;
}

/** The states of a dependency for which a step can wait; `completed` is any end. */
export const NEED_CONDITIONS = ['succeeded', 'failed', 'completed', 'skipped', 'running'] as const;

/** One of `NEED_CONDITIONS`. */
export type NeedCondition = (typeof NEED_CONDITIONS)[number];

/** An explicit dependency, in addition to those by inputs and expressions. */
export interface Need {
  readonly step: string;
  readonly condition: NeedCondition;
}

/** The static cells of a step, expanded when the run is planned. */
export interface Matrix {
  /** Axis name to its values, or to a template that yields the list from parameters. */
  readonly axes: Readonly<Record<string, JsonTemplate>>;
  /** Each entry adds axes to the cells that it does not contradict, or a separate cell if there is none. */
  readonly include: readonly Readonly<Record<string, JsonTemplate>>[];
  /** Every cell that matches an entry is removed. */
  readonly exclude: readonly Readonly<Record<string, JsonTemplate>>[];
}

/**
 * The least that an instance type must have; absent values are not compared. `cpu` counts cores. `timeMs` does not choose the
 * instance type.
 */
export interface Resources {
  /** Number of cores. */
  readonly cpu?: number;
  readonly memoryBytes?: number;
  /** Number of GPUs. */
  readonly gpu?: number;
  readonly gpuModel?: string;
  /** How long an attempt needs at most, for a system that plans by time. Absent: the `timeout` of the step. */
  readonly timeMs?: number;
}

/** Exactly one of the keys is set: a fixed cluster, any of several, or several by preference. */
export interface Placement {
  readonly cluster?: string;
  readonly anyOf?: readonly string[];
  readonly ordered?: readonly string[];
}

/** The classes of failure, decided before any exit-code rule. */
export const FAILURE_CLASSES = ['failed', 'oom', 'timeout', 'infrastructure'] as const;

/** One of `FAILURE_CLASSES`. */
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** When an attempt is followed by another one. */
export interface Retry {
  /** Attempts after the first one, for the classes in `on`. */
  readonly limit: number;
  /** Classes that are retried. */
  readonly on: readonly FailureClass[];
  /** If given, only these exit codes are retried. */
  readonly exitCodes?: readonly number[];
  /** The delay before the second attempt, its factor for each further one, and its maximum. */
  readonly backoff: { readonly initialMs: number; readonly factor: number; readonly maxMs: number };
  /**
   * Instance types or resources for later attempts: each failure of the class `oom` or `failed` moves to the next
   * entry, up to the last.
   */
  readonly escalate: readonly (string | Resources)[];
  /** Extra attempts after infrastructure failures; they do not count against `limit`. */
  readonly infrastructure: number;
}

/** Results of earlier runs may be reused for this step. */
export interface Cache {
  /** Replaces image, command and variables in the fingerprint. */
  readonly key?: Template;
  /** Older results are not reused. */
  readonly maxAgeMs?: number;
  /** Variables and inputs that are not part of the fingerprint. */
  readonly ignore: readonly string[];
}

/** A step that runs as long as its dependents need it. */
export interface ServiceStep {
  /** An HTTP path that must answer, or a command that must succeed in the container; absent: ready when it runs. */
  readonly ready?: ({ readonly port: string; readonly path: string } | { readonly command: readonly Template[] }) & {
    /** From the container's start; absent: the `timeout` of the step, otherwise 10 minutes. */
    readonly timeoutMs?: number;
  };
}

/** A step that waits for a user instead of running a container. */
export interface Approval {
  /** Shown to the user. */
  readonly message?: Template;
  readonly timeoutMs?: number;
}

/** An output of a step that the run delivers. */
export interface PipelineOutput {
  readonly from: StepSource;
  /** Local directory, relative to the pipeline file. */
  readonly publish?: string;
}

/** A result of a step that counts as one of the run. */
export interface PipelineResult {
  readonly step: string;
  readonly result: string;
}

/** The limit of concurrent runs with the same group, and what happens to a run above it. */
export interface Concurrency {
  readonly group: Template;
  /** Most concurrent runs of the group. */
  readonly limit: number;
  /** What a new run does while the group is full: wait, cancel the others, or not start. */
  readonly overlap: 'queue' | 'replace' | 'fail';
}

/** When the pipeline runs by itself; see docs/schedules.md. */
export interface Schedule {
  /** Expressions with five fields. */
  readonly cron: readonly string[];
  /** An IANA name. */
  readonly timezone: string;
  /** What happens at a planned time while an earlier run has not ended. */
  readonly overlap: 'allow' | 'skip' | 'queue' | 'replace';
  /** Which missed times run later. */
  readonly catchup: 'none' | 'latest' | 'all';
  /** How late a run may start; later, it counts as missed. */
  readonly startingDeadlineMs?: number;
}

/** A message at the end of a run with one of these states; exactly one of `webhook` and `command` is set. */
export interface Notify {
  readonly on: readonly ('succeeded' | 'failed' | 'canceled')[];
  /** URL for a POST request with JSON. */
  readonly webhook?: Template;
  /** The argv of a program on the machine of the runner. */
  readonly command?: readonly Template[];
}

/** Whether a step has cells with names of their own: its outputs are directories with one entry for each of them. */
export function isFannedOutStep({ each, matrix, foreach }: Pick<Step, 'each' | 'matrix' | 'foreach'>): boolean {
  return each !== undefined || matrix !== undefined || foreach !== undefined;
}
