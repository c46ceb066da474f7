import type { Json } from '../model/json.ts';
import type { Result } from '../model/result.ts';
import type { SluiceError } from '../model/sluice-error.ts';
import type { CheckedPipeline, PipelineSource } from '../parse/parse-pipeline.ts';
import type { RawPipeline } from '../schema/pipeline-schema.ts';
import type { Columns, TableRow } from '../tables/column-type.ts';
import type { AxisConfig, AxisHandle, EachAxes, FieldName, FieldValue, FileItem, FilesConfig } from './axes.ts';
import type { CellHandles, CellsConfig, ItemOf, Items, Widen } from './cells.ts';
import type { ExpressionHandle } from './expression-handle.ts';
import type { StepConfig, UseConfig } from './step-config.ts';
import type {
  EachStepHandle,
  OutputHandle,
  OutputPathHandle,
  ResultHandle,
  ResultShapes,
  StepHandle,
  VolumeHandle,
} from './step-handle.ts';

/** The keys of a pipeline file, without those that methods of the builder add. */
export type PipelineConfig<P, V> = {
  readonly [K in keyof Omit<
    RawPipeline,
    | 'version'
    | 'name'
    | 'params'
    | 'volumes'
    | 'axes'
    | 'steps'
    | 'finally'
    | 'outputs'
    | 'results'
    | 'include'
    | 'defaults'
  >]?: Exclude<RawPipeline[K], undefined>;
} & {
  /** Keys that apply to every step. */
  readonly defaults?: StepConfig<string, ResultShapes>;
  /** Further files; `build` needs `read` for them. */
  readonly include?: string | readonly string[];
  /** The short form of a parameter is its default. */
  readonly params?: P;
  readonly volumes?: V;
};

type ParamValue<T> = T extends { readonly type: 'string' }
  ? string
  : T extends { readonly type: 'integer' | 'number' }
    ? number
    : T extends { readonly type: 'boolean' }
      ? boolean
      : T extends { readonly columns: infer C extends Columns }
        ? readonly TableRow<C>[]
        : T extends { readonly type: 'array' }
          ? readonly Json[]
          : T extends { readonly enum: readonly (infer E)[] }
            ? E
            : T extends { readonly default: infer D }
              ? Widen<D>
              : Widen<T>;

/** The values of results by name. */
export type ResultValues<N> = { readonly [K in keyof N]: N[K] extends ResultHandle<infer T> ? T : never };

/**
 * Collects steps; `build` checks them exactly as it would check a file. `R` are the values of the results that `results` has
 * declared.
 */
export interface PipelineBuilder<P, V, R = Readonly<Record<never, never>>> {
  readonly params: { readonly [K in keyof P & string]: ExpressionHandle<ParamValue<P[K]>> };
  readonly volumes: { readonly [K in keyof V & string]: VolumeHandle };
  readonly run: {
    readonly id: ExpressionHandle<string>;
    readonly name: ExpressionHandle<string>;
    /** The planned time of the run, as `run.plannedTime` in a file. */
    readonly plannedTime: ExpressionHandle<string>;
    readonly status: ExpressionHandle<string>;
  };
  /** The number of the current attempt, from 1. */
  readonly attempt: ExpressionHandle<number>;
  /**
   * Adds an axis, for `each` of steps: a list of keys, a list of maps with `key`, or the `distinct` values of a field of
   * another axis. Its handle has the item of a cell. Throws `SluiceError` `DUPLICATE_AXIS` at the second axis of a name.
   *
   * @example
   * ```ts
   * import { pipeline } from 'sluice';
   *
   * const p = pipeline('align', { params: { samples: [{ id: 'S1', reads: 'S1.fastq' }] }, volumes: { raw: {} } });
   * const sample = p.axis('sample', { items: p.params.samples, key: (item) => item.id });
   * const align = p.step('align', {
   *   each: sample,
   *   command: ['align', sample.item.id],
   *   inputs: { reads: p.volumes.raw.at(sample.item.reads) },
   *   outputs: ['bam'],
   * });
   * p.step('sort', { each: sample, command: ['sort'], inputs: { bam: align.outputs.bam } });
   * ```
   */
  readonly axis: AddAxis;
  /**
   * Adds a step. With `each` it has a cell for each item of the axes. With `final: true` it runs after all others, whatever happened. With cells (`matrix` or `foreach`) there
   * is one container for each, and the config is a function of the cell's values. Throws `SluiceError` `DUPLICATE_STEP`
   * at the second step of a name.
   */
  readonly step: AddStep;
  /**
   * Adds a step or a whole pipeline from a file. List its outputs, results and ports here to use them in other steps;
   * `build` checks that they exist.
   */
  readonly uses: AddUse;
  /** Adds an output of the pipeline, or a part of one. `publish` is a local directory to which it is copied. */
  readonly output: (
    name: string,
    from: OutputHandle | OutputPathHandle,
    options?: { readonly publish?: string },
  ) => void;
  /**
   * Declares results of steps as results of the run and returns this pipeline, whose type then has them: the `results` of a
   * run's result are typed by it. Pipelines that use this one can read them.
   *
   * @example
   * ```ts
   * import { pipeline, run } from 'sluice';
   *
   * const p = pipeline('train');
   * const fit = p.step('fit', { script: 'echo 0.9 > /sluice/results/accuracy', results: { accuracy: 'number' } });
   * const result = await (await run(p.results({ accuracy: fit.results.accuracy }))).finished;
   * const accuracy: number = result.results.accuracy;
   * console.log(accuracy);
   * ```
   */
  readonly results: <N extends Readonly<Record<string, ResultHandle<unknown>>>>(
    results: N,
  ) => PipelineBuilder<P, V, R & ResultValues<N>>;
  /** Never set; carries the type of the declared results. */
  readonly resultValues?: R;
  /** The pipeline as the JSON form of a file. */
  readonly toJSON: () => { readonly [key: string]: Json };
  /**
   * Checks the pipeline as a file is checked. Throws `SluiceError` `INVALID_PIPELINE` with all diagnostics. `read` returns
   * the text of a file that `include` or `uses` names, as it is written there.
   */
  readonly build: (options?: BuildOptions) => CheckedPipeline;
  /** Like `build`, but returns the error. */
  readonly safeBuild: (options?: BuildOptions) => Result<CheckedPipeline, BuildError>;
}

/** Why a pipeline could not be built. */
export type BuildError = SluiceError<'INVALID_PIPELINE' | 'INVALID_ARGUMENT'>;

/** How `build` reads other files. */
export type BuildOptions = Pick<PipelineSource, 'read'>;

/** `E` are the axes of `each`; never: there are none. */
type HandleOf<E, O extends string, R extends ResultShapes, Port extends string> = [E] extends [never]
  ? StepHandle<O, R, false, Port>
  : EachStepHandle<O, R>;

interface AddAxis {
  <const I extends Items>(name: string, items: I): AxisHandle<ItemOf<I>>;
  <const I extends Items>(name: string, axis: AxisConfig<I>): AxisHandle<ItemOf<I>>;
  (name: string, axis: FilesConfig): AxisHandle<FileItem>;
  <T, const F extends FieldName<T>>(
    name: string,
    axis: { readonly distinct: readonly [axis: AxisHandle<T>, field: F]; readonly parallelism?: number },
  ): AxisHandle<FieldValue<T, F>>;
}

type AddUse = <
  const O extends string = never,
  const R extends ResultShapes = Record<never, never>,
  const Port extends string = never,
  const E extends EachAxes = never,
>(
  name: string,
  file: string,
  config?: UseConfig<O, R, Port> & { readonly each?: E },
) => HandleOf<E, O, R, Port>;

interface AddStep {
  <
    const O extends string = never,
    const R extends ResultShapes = Record<never, never>,
    const Port extends string = never,
    const E extends EachAxes = never,
  >(
    name: string,
    config: StepConfig<O, R, Port> & { readonly each?: E; readonly final?: boolean },
  ): HandleOf<E, O, R, Port>;
  <const C extends CellsConfig, const O extends string = never, const R extends ResultShapes = Record<never, never>>(
    name: string,
    cells: C,
    config: (cell: CellHandles<C>) => StepConfig<O, R>,
  ): StepHandle<O, R, true, never>;
}

/** Parameters by name: a default, or the long form of the file. */
export type ParamShapes = Readonly<Record<string, Json | { readonly type: string }>>;
/** Volumes by name, as in the file. */
export type VolumeShapes = Readonly<
  Record<
    string,
    {
      readonly id?: string;
      readonly source?: string;
      readonly retain?: boolean;
      readonly each?: string | readonly string[];
    }
  >
>;
