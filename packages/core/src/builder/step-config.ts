import type { Json } from '../model/json.ts';
import type { NeedCondition } from '../model/pipeline.ts';
import type { RawStep } from '../schema/step-schema.ts';
import type { ExpressionHandle } from './expression-handle.ts';
import type { AnyStep, OutputHandle, OutputPathHandle, ResultShapes, VolumeHandle } from './step-handle.ts';

/** A string, or a value that is converted to one. */
export type Text = string | ExpressionHandle<unknown>;
type Source = OutputHandle | OutputPathHandle | VolumeHandle;

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
  /** Names, mounted at `/out/<name>`, or names with their mount points. */
  readonly outputs?:
    | readonly O[]
    | Readonly<
        Record<O, string | { readonly path?: string; readonly retain?: boolean; readonly expect?: readonly string[] }>
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

type Undefinable<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };
