import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { assemblePipeline } from '../parse/assemble-pipeline.ts';
import { checkDocument } from '../parse/check-document.ts';
import { createFileSet } from '../parse/file-set.ts';
import { locateFaults } from '../parse/locate-faults.ts';
import type { CheckedPipeline, PipelineSource } from '../parse/parse-pipeline.ts';
import type { RawPipeline } from '../schema/pipeline-schema.ts';
import { type ExpressionHandle, expression, handlesUnder, member } from './expression-handle.ts';
import {
  edgeText,
  type OutputHandle,
  type ResultShapes,
  type StepConfig,
  type StepHandle,
  stepDocument,
  type Text,
  type UseConfig,
  type VolumeHandle,
} from './step-config.ts';

/** The keys of a pipeline file, without those that methods of the builder add. */
export type PipelineConfig<P, V> = {
  readonly [K in keyof Omit<
    RawPipeline,
    'version' | 'name' | 'params' | 'volumes' | 'steps' | 'finally' | 'outputs' | 'include' | 'defaults'
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
      : T extends { readonly type: 'array' }
        ? readonly Json[]
        : T extends { readonly default: infer D }
          ? D
          : T;

type ItemOf<T> = T extends readonly (infer I)[] ? I : T extends ExpressionHandle<readonly (infer I)[]> ? I : unknown;
type Axes = Readonly<Record<string, readonly Json[] | ExpressionHandle<readonly unknown[]>>>;

/**
 * Collects steps; `build` checks them exactly as it would check a file. A name that is used twice is reported by
 * `build`.
 */
export interface PipelineBuilder<P, V> {
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
  /** Adds a step with one cell. */
  readonly step: <
    const O extends string = never,
    const R extends ResultShapes = Record<never, never>,
    const Port extends string = never,
  >(
    name: string,
    config: StepConfig<O, R, Port>,
  ) => StepHandle<O, R, false, Port>;
  /** Adds a step with one cell for each combination of the axes' values. */
  readonly matrix: <
    const A extends Axes,
    const O extends string = never,
    const R extends ResultShapes = Record<never, never>,
  >(
    name: string,
    axes: A,
    config: (matrix: { readonly [K in keyof A & string]: ExpressionHandle<ItemOf<A[K]>> }) => StepConfig<O, R>,
  ) => StepHandle<O, R, true, never>;
  /** Adds a step with one cell for each item of a list that becomes known during the run. */
  readonly foreach: <T, const O extends string = never, const R extends ResultShapes = Record<never, never>>(
    name: string,
    list: ExpressionHandle<readonly T[]> | { readonly items: ExpressionHandle<readonly T[]>; readonly key?: Text },
    config: (item: ExpressionHandle<T>) => StepConfig<O, R>,
  ) => StepHandle<O, R, true, never>;
  /**
   * Adds a step or a whole pipeline from a file. List its outputs, results and ports here to use them in other steps;
   * `build` checks that they exist.
   */
  readonly uses: <
    const O extends string = never,
    const R extends ResultShapes = Record<never, never>,
    const Port extends string = never,
  >(
    name: string,
    file: string,
    config?: UseConfig<O, R, Port>,
  ) => StepHandle<O, R, false, Port>;
  /** Adds a step that runs after all others, whatever their outcome. */
  readonly finally: (name: string, config: StepConfig<string, ResultShapes>) => void;
  /** Adds an output of the pipeline. `publish` is a local directory to which it is copied. */
  readonly output: (name: string, from: OutputHandle, options?: { readonly publish?: string }) => void;
  /** The pipeline as the JSON form of a file. */
  readonly toJSON: () => { readonly [key: string]: Json };
  /** `read` returns the text of a file that `include` or `uses` names, by the name as written. */
  readonly build: (options?: Pick<PipelineSource, 'read'>) => Result<CheckedPipeline, readonly Diagnostic[]>;
}

type ParamShapes = Readonly<Record<string, Json | { readonly type: string }>>;
type VolumeShapes = Readonly<
  Record<string, { readonly id?: string; readonly source?: string; readonly retain?: boolean }>
>;

/**
 * Creates a builder. Names of parameters, outputs and results are part of its types, so that a wrong name does not
 * compile.
 */
export function pipeline<
  const P extends ParamShapes = Record<never, never>,
  const V extends VolumeShapes = Record<never, never>,
>(name: string, config: PipelineConfig<P, V> = {}): PipelineBuilder<P, V> {
  const steps = new Map<string, unknown>();
  const finals = new Map<string, unknown>();
  const outputs = new Map<string, unknown>();
  const twice: string[] = [];
  const put = (map: Map<string, unknown>, key: string, value: unknown): void => {
    if (map.has(key)) twice.push(key);
    map.set(key, value);
  };
  const add = (
    step: string,
    stepConfig: StepConfig<string, ResultShapes>,
    cells: Readonly<Record<string, unknown>>,
  ) => {
    put(steps, step, stepDocument(stepConfig, cells));
    const { outputs = {}, results = {}, ports = {} } = stepConfig;
    return stepHandle(step, {
      outputs: Object.keys(outputs),
      results: Object.keys(results),
      ports: Object.keys(ports),
    });
  };
  const toJSON = () => {
    const document = {
      ...{ version: 1, name, ...config },
      ...(config.defaults && { defaults: stepDocument(config.defaults, {}) }),
      steps: Object.fromEntries(steps),
      ...(finals.size > 0 && { finally: Object.fromEntries(finals) }),
      ...(outputs.size > 0 && { outputs: Object.fromEntries(outputs) }),
    };
    return JSON.parse(JSON.stringify(document)) as { readonly [key: string]: Json };
  };
  const builder = {
    params: handlesUnder('params', Object.keys(config.params ?? {})),
    volumes: Object.fromEntries(Object.keys(config.volumes ?? {}).map((volume) => [volume, volumeHandle(volume, '')])),
    run: handlesUnder('run', ['id', 'name', 'plannedTime', 'status']),
    attempt: expression('attempt'),
    step: (step: string, stepConfig: StepConfig<string, ResultShapes>) => add(step, stepConfig, {}),
    matrix: (step: string, axes: Axes, config: (matrix: unknown) => StepConfig<string, ResultShapes>) =>
      add(step, config(handlesUnder('matrix', Object.keys(axes))), { matrix: axes }),
    foreach: (step: string, list: unknown, config: (item: unknown) => StepConfig<string, ResultShapes>) =>
      add(step, config(expression('item')), { foreach: list }),
    uses: (step: string, file: string, given: UseConfig<string, ResultShapes> = {}) => {
      const { outputs = [], results = {}, ports = [], ...beside } = given;
      put(steps, step, { uses: file, ...(stepDocument(beside, {}) as object) });
      return stepHandle(step, { outputs, results: Object.keys(results), ports });
    },
    finally: (step: string, stepConfig: StepConfig<string, ResultShapes>) =>
      put(finals, step, stepDocument(stepConfig, {})),
    output: (key: string, from: OutputHandle, options: { readonly publish?: string } = {}) =>
      put(outputs, key, { from: edgeText(from), ...options }),
    toJSON,
    build: (options: Pick<PipelineSource, 'read'> = {}) => check(toJSON(), { twice, ...options }),
  };
  return builder as unknown as PipelineBuilder<P, V>;
}

function check(
  document: Json,
  { twice, read }: { readonly twice: readonly string[] } & Pick<PipelineSource, 'read'>,
): Result<CheckedPipeline, readonly Diagnostic[]> {
  const root = { file: '', text: '', value: document, locate: () => undefined };
  const assembly = assemblePipeline(root, createFileSet(read));
  const checked = checkDocument(assembly.value, { suspicious: true, unread: assembly.unread });
  const diagnostics = [
    ...twice.map(
      (name): Diagnostic => ({
        code: 'duplicate-key',
        severity: 'error',
        message: `the name \`${name}\` is used twice`,
      }),
    ),
    ...assembly.diagnostics,
    ...locateFaults(checked.faults, assembly),
  ];
  if (checked.pipeline === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    return fail(diagnostics);
  return ok({ pipeline: checked.pipeline, warnings: diagnostics });
}

function stepHandle(
  step: string,
  { outputs, results, ports }: { readonly [K in 'outputs' | 'results' | 'ports']: readonly string[] },
): unknown {
  const base = member('steps', step);
  const urls = ports.map((port) => [port, { url: expression(`${member(`${base}.ports`, port)}.url`) }]);
  return {
    name: step,
    outputs: Object.fromEntries(outputs.map((output) => [output, { step, output }])),
    results: handlesUnder(`${base}.results`, results),
    status: expression(`${base}.status`),
    reason: expression(`${base}.reason`),
    reused: expression(`${base}.reused`),
    ports: Object.fromEntries(urls),
  };
}

function volumeHandle(volume: string, path: string): VolumeHandle {
  return { volume, path, at: (inner) => volumeHandle(volume, path === '' ? inner : `${path}/${inner}`) };
}
