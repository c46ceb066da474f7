import type { Json } from '../model/json.ts';
import type { JsonType } from '../model/json-type.ts';
import type { NeedCondition } from '../model/pipeline.ts';
import type { StepReason, StepStatus } from '../model/step-status.ts';
import type { RawStep } from '../schema/step-schema.ts';
import type { ExpressionHandle } from './expression-handle.ts';

/** An output of a step, to mount in another step or to publish. */
export interface OutputHandle {
  readonly step: string;
  readonly output: string;
}

/** A volume of the pipeline, or a directory or file in it. */
export interface VolumeHandle {
  readonly volume: string;
  readonly path: string;
  /** A directory or file in this place; `path` is relative to it. */
  readonly at: (path: string) => VolumeHandle;
}

/** The TypeScript type of a value with this declared type. */
export type ValueOf<T extends JsonType> = T extends 'string'
  ? string
  : T extends 'integer' | 'number'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'array'
        ? readonly unknown[]
        : Readonly<Record<string, unknown>>;

type TypeOfResult<R> = R extends JsonType ? R : R extends { readonly type: infer T extends JsonType } ? T : never;
type ResultShapes = Readonly<Record<string, JsonType | { readonly type: JsonType; readonly file?: string }>>;

/**
 * The parts of a step that other steps can refer to. For a step with several cells, a result is the list of the cells'
 * values.
 */
export interface StepHandle<
  O extends string = string,
  R extends ResultShapes = ResultShapes,
  Many extends boolean = boolean,
  Port extends string = string,
> {
  readonly name: string;
  readonly outputs: { readonly [K in O]: OutputHandle };
  readonly results: {
    readonly [K in keyof R & string]: ExpressionHandle<
      Many extends true ? readonly ValueOf<TypeOfResult<R[K]>>[] : ValueOf<TypeOfResult<R[K]>>
    >;
  };
  readonly status: ExpressionHandle<StepStatus>;
  /** Why the step failed; empty for a step that did not fail. */
  readonly reason: ExpressionHandle<StepReason>;
  /** Whether the outputs and results are those of an earlier run. */
  readonly reused: ExpressionHandle<boolean>;
  /** A step that uses the address of a service starts when the service is ready. */
  readonly ports: { readonly [K in Port]: { readonly url: ExpressionHandle<string> } };
}

/** A string, or a value that is converted to one. */
export type Text = string | ExpressionHandle<unknown>;
type Source = OutputHandle | VolumeHandle;

/** The keys of a step in a file, with handles in place of names. */
export interface StepConfig<O extends string, R extends ResultShapes, Port extends string = string>
  extends Omit<
    Undefinable<RawStep>,
    | 'image'
    | 'command'
    | 'script'
    | 'env'
    | 'inputs'
    | 'outputs'
    | 'results'
    | 'needs'
    | 'when'
    | 'matrix'
    | 'foreach'
    | 'instanceType'
    | 'ports'
    | 'uses'
    | 'with'
  > {
  readonly image?: Text;
  readonly command?: readonly Text[] | string;
  readonly script?: string;
  readonly env?: Readonly<Record<string, Text>>;
  readonly inputs?: Readonly<
    Record<string, Source | { readonly from: Source; readonly path?: string; readonly writable?: boolean }>
  >;
  readonly outputs?: Readonly<
    Record<O, string | { readonly path: string; readonly retain?: boolean; readonly expect?: readonly string[] }>
  >;
  readonly results?: R;
  readonly ports?: Readonly<Record<Port, NonNullable<RawStep['ports']>[string]>>;
  /** Steps, or pairs of a step and the condition that it must reach. */
  readonly needs?: AnyStep | readonly (AnyStep | readonly [AnyStep, NeedCondition])[];
  readonly when?: boolean | ExpressionHandle<boolean>;
  readonly instanceType?: Text;
}

/**
 * The keys allowed beside `uses`: with a step file more than with a pipeline, because its own keys are merged with
 * them.
 */
export interface UseConfig<O extends string, R extends ResultShapes, Port extends string = string>
  extends Omit<StepConfig<never, R>, 'outputs' | 'ports'> {
  readonly with?: Readonly<Record<string, Json | ExpressionHandle<unknown>>>;
  /** Outputs that the used file declares; only their names are needed here. */
  readonly outputs?: readonly O[];
  /** Ports that the used file declares. */
  readonly ports?: readonly Port[];
}

/** Any step, for `needs`. */
export type AnyStep = Pick<StepHandle, 'name'>;

type Undefinable<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

export type { ResultShapes };

/** Converts a step to the form that it has in a file. `cells` holds `matrix` or `foreach`. */
export function stepDocument(
  config: StepConfig<string, ResultShapes>,
  cells: Readonly<Record<string, unknown>>,
): unknown {
  const { inputs, needs, ...rest } = config;
  return {
    ...rest,
    ...(inputs && { inputs: mapEntries(inputs, inputDocument) }),
    ...(needs && { needs: needsDocument(needs) }),
    ...cells,
  };
}

function inputDocument(input: NonNullable<StepConfig<string, ResultShapes>['inputs']>[string]): unknown {
  return 'from' in input ? { ...input, from: edgeText(input.from) } : edgeText(input);
}

/** The text of an edge in a file: `step.output` or `volumes.name/path`. */
export function edgeText(source: Source): string {
  if ('output' in source) return `${source.step}.${source.output}`;
  return `volumes.${source.volume}${source.path === '' ? '' : `/${source.path}`}`;
}

function needsDocument(needs: NonNullable<StepConfig<string, ResultShapes>['needs']>): unknown {
  const list = 'name' in needs ? [needs] : needs;
  const pairs = list.map((need) =>
    'name' in need ? ([need.name, 'succeeded'] as const) : ([need[0].name, need[1]] as const),
  );
  return pairs.every(([, condition]) => condition === 'succeeded')
    ? pairs.map(([name]) => name)
    : Object.fromEntries(pairs);
}

function mapEntries<T>(map: Readonly<Record<string, T>>, change: (value: T) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}
