import type { Json } from '../model/json.ts';
import type { NeedCondition } from '../model/pipeline.ts';
import type { RawStep } from '../schema/step-schema.ts';
import type { EachAxes } from './axes.ts';
import type { ExpressionHandle, Text } from './expression-handle.ts';
import type { AnyStep, OutputHandle, OutputPathHandle, ResultShapes, VolumeHandle } from './step-handle.ts';

type Source = OutputHandle | OutputPathHandle | VolumeHandle;

/** Outputs of which the first is mounted whose cell was not skipped. */
type StepSources = readonly (OutputHandle | OutputPathHandle)[];

/** The keys of an input in a file. */
export interface InputConfig {
  readonly from: Source | StepSources;
  readonly path?: string;
  readonly writable?: boolean;
  /** By axis: the key of the item whose cells are mounted, or a list of keys. */
  readonly where?: Readonly<Record<string, Key | readonly Key[]>>;
  /** Axes that do not have to agree. */
  readonly all?: EachAxes;
  readonly optional?: boolean;
}

type Key = Text | number | boolean;

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
    | 'each'
    | 'matrix'
    | 'foreach'
    | 'instanceType'
    | 'timeout'
    | 'queueTimeout'
    | 'deadline'
    | 'priority'
    | 'resources'
    | 'retry'
    | 'placement'
    | 'pools'
    | 'ports'
    | 'uses'
    | 'with'
  > {
  readonly image?: Text;
  readonly command?: readonly Text[] | string;
  readonly script?: string;
  readonly env?: Readonly<Record<string, Text>>;
  readonly inputs?: Readonly<Record<string, Source | StepSources | InputConfig>>;
  /** Names, mounted at `/out/<name>`, or names with their mount points. */
  readonly outputs?:
    | readonly O[]
    | Readonly<
        Record<
          O,
          | string
          | {
              readonly path?: string;
              readonly retain?: boolean;
              readonly temporary?: boolean;
              readonly expect?: readonly string[];
            }
        >
      >;
  readonly results?: R;
  readonly ports?: Readonly<Record<Port, NonNullable<RawStep['ports']>[string]>>;
  /** Steps, or pairs of a step and the condition that it must reach. */
  readonly needs?: AnyStep | readonly (AnyStep | readonly [AnyStep, NeedCondition])[];
  readonly when?: boolean | ExpressionHandle<boolean>;
  readonly instanceType?: Text;
  /** A duration, like the following ones. Each of these keys can read the item of a cell. */
  readonly timeout?: Text;
  readonly queueTimeout?: Text;
  readonly deadline?: Text;
  readonly priority?: number | ExpressionHandle<number>;
  readonly resources?: ResourcesConfig;
  readonly retry?: number | ExpressionHandle<number> | RetryConfig;
  readonly placement?: PlacementConfig;
  readonly pools?: Readonly<Record<string, number | ExpressionHandle<number>>>;
}

/** The clusters of a cell, which can read its item; exactly one of the keys. */
export interface PlacementConfig {
  readonly cluster?: Text;
  readonly anyOf?: readonly Text[];
  readonly ordered?: readonly Text[];
}

/** The resources of a cell, which can read its item. */
export interface ResourcesConfig {
  readonly cpu?: number | ExpressionHandle<number>;
  readonly memory?: Text;
  readonly gpu?: number | ExpressionHandle<number>;
  readonly gpuModel?: Text;
  /** A duration. */
  readonly time?: Text;
}

/** The retries of a cell, which can read its item. */
export interface RetryConfig extends Pick<Undefinable<Extract<RawStep['retry'], object>>, 'on' | 'exitCodes'> {
  readonly limit?: number | ExpressionHandle<number>;
  readonly infrastructure?: number | ExpressionHandle<number>;
  readonly backoff?: {
    readonly initial?: Text;
    readonly factor?: number | ExpressionHandle<number>;
    readonly max?: Text;
  };
  readonly escalate?: readonly (string | ResourcesConfig)[];
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
