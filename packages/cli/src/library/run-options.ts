import type { CheckedPipeline, ExpressionHandle, Json, PipelineBuilder } from '@sluice/core';
import type { RunnerEvent } from '@sluice/run';
import type { Connection } from './connection.ts';
import type { DeclaredResults } from './run-result.ts';

/** What every run of a program may set. */
export interface ExecutionOptions {
  /** Default: what `openService` opens with `home` and `profile`, for this run. */
  readonly service?: Connection;
  /** Name or file of a profile, which says which service to use. Default: as for the command. */
  readonly profile?: string;
  /** Directory of runs, cache and embedded service. Default: the nearest `.sluice`, as for the command. */
  readonly home?: string;
  /** Values of secrets by name. Default: `SLUICE_SECRET_<name>`, then `secrets/<name>` in the home. Never stored. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** Called with each event when it happens; must not throw. */
  readonly onEvent?: (event: RunnerEvent) => void;
}

/** How to resume a run. `R` are the values of the results that its pipeline declares. */
export interface ResumeOptions<R = DeclaredResults> extends ExecutionOptions {
  /** The pipeline of the run: gives `results` its types, and an error for a result whose step did not succeed. */
  readonly pipeline?: Pick<Runnable<unknown, R>, 'safeBuild' | 'resultValues'> | CheckedPipeline;
}

/** Values for the parameters of a pipeline; those without a default are required. */
export type ParamValues<P> = {
  readonly [K in keyof P]?: P[K] extends ExpressionHandle<infer T> ? T : Json;
};

/** How to run a pipeline. `P` are the parameter handles of its builder. */
export interface RunOptions<P = Readonly<Record<string, ExpressionHandle<Json>>>> extends ExecutionOptions {
  readonly params?: ParamValues<P>;
  /** A YAML or JSON file with values of parameters; `params` overrides them. */
  readonly paramsFile?: string;
  /** Maximum number of concurrent containers; the lower of this and the pipeline's own applies. */
  readonly parallelism?: number;
  /** Directory of relative `source` and `publish` paths. Default: that of the pipeline's file, else the working directory. */
  readonly baseDir?: string;
  /** Reuses successful, unchanged steps of this earlier run. */
  readonly reuseFrom?: string;
}

/** A pipeline from `pipeline()`, from `build()`, `loadPipeline()` or `parsePipeline()`. */
export type Runnable<P, R> = Pick<PipelineBuilder<never, never, R>, 'safeBuild' | 'resultValues'> & {
  readonly params: P;
};

/** How to submit a run. `P` are the parameter handles of its builder. */
export type SubmitOptions<P = Readonly<Record<string, ExpressionHandle<Json>>>> = Omit<
  RunOptions<P>,
  'signal' | 'onEvent'
>;
