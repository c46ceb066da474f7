import type { JsonType } from '../model/json-type.ts';
import type { StepReason, StepStatus } from '../model/step-status.ts';
import type { ExpressionHandle, Text } from './expression-handle.ts';

/** An output of a step, to mount in another step or to publish. */
export interface OutputHandle {
  readonly step: string;
  readonly output: string;
}

/** An output of a step without cells, so that a part of it can be mounted. */
export interface WholeOutputHandle extends OutputHandle {
  /** A directory or file in the output, for an input; `path` is relative to it. */
  readonly at: (path: Text) => OutputPathHandle;
}

/** A directory or file in an output, to mount in another step. */
export interface OutputPathHandle {
  readonly within: OutputHandle;
  readonly path: string;
  /** A directory or file in this place; `path` is relative to it. */
  readonly at: (path: Text) => OutputPathHandle;
}

/** A result of a step: an expression, which `results` of the pipeline can also declare as a result of the run. */
export interface ResultHandle<T> extends ExpressionHandle<T> {
  readonly step: string;
  readonly result: string;
}

/** A volume of the pipeline, or a directory or file in it. */
export interface VolumeHandle {
  readonly volume: string;
  readonly path: string;
  /** A directory or file in this place; `path` is relative to it. */
  readonly at: (path: Text) => VolumeHandle;
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
/** Results of a step by name: the type, or `type` and `file`. */
export type ResultShapes = Readonly<Record<string, JsonType | { readonly type: JsonType; readonly file?: string }>>;

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
  /** A part of an output can be mounted with `at`, but not of a step with several cells. */
  readonly outputs: { readonly [K in O]: Many extends true ? OutputHandle : WholeOutputHandle };
  readonly results: {
    readonly [K in keyof R & string]: ResultHandle<
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

/** A step with `each`. A path in an output is one in that of the matched cell. */
export interface EachStepHandle<O extends string = string, R extends ResultShapes = ResultShapes>
  extends Omit<StepHandle<O, R, true, never>, 'outputs'> {
  readonly outputs: { readonly [K in O]: WholeOutputHandle };
  /** For a cell that means exactly one cell of this step, whose results are then values and no lists. */
  readonly cell: {
    readonly results: { readonly [K in keyof R & string]: ExpressionHandle<ValueOf<TypeOfResult<R[K]>>> };
  };
}

/** Any step, for `needs`. */
export type AnyStep = Pick<StepHandle, 'name'>;
