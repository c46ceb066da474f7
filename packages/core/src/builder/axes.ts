import { guardArguments, isObject, requireArgument } from '../model/guard-arguments.ts';
import type { ItemOf, Items } from './cells.ts';
import { type ExpressionHandle, expression, member, type Text } from './expression-handle.ts';
import { inheritOrigin } from './handle-origins.ts';
import { readConfig } from './read-config.ts';

/**
 * An item of an axis: an expression, with one for each field of a map. A field whose name a handle has itself (`source`,
 * `value`, `toString`, `toJSON`) is read with `expression('each.sample.source')`.
 */
export type ItemHandle<T> = ExpressionHandle<T> & {
  readonly [K in FieldName<T>]: ItemHandle<FieldValue<T, K>>;
};

type MapsOf<T> = Exclude<Extract<T, object>, readonly unknown[]>;
/** The names of the fields that some of the items have. */
export type FieldName<T> =
  MapsOf<T> extends infer M
    ? M extends unknown
      ? Exclude<keyof M & string, keyof ExpressionHandle<unknown>>
      : never
    : never;
/** The type of a field in the items that have it. */
export type FieldValue<T, K extends string> =
  MapsOf<T> extends infer M ? (M extends { readonly [P in K]: infer V } ? V : never) : never;

/** An axis of the pipeline, for `each` and `all`. */
export interface AxisHandle<T> {
  readonly name: string;
  /** The item of a cell, in the texts of a step that has the axis: `each.NAME` in a file. */
  readonly item: ItemHandle<T>;
}

/** Any axis. */
export type AnyAxis = Pick<AxisHandle<unknown>, 'name' | 'item'>;
/** The axes of a step. */
export type EachAxes = AnyAxis | readonly AnyAxis[];

/** A file of a source, as an item. */
export interface FileItem {
  /** In the source. */
  readonly path: string;
  readonly name: string;
  /** The name up to its first dot: the key, unless `key` says something else. */
  readonly stem: string;
  /** The path up to that dot, with `-` for the characters that a key cannot have. */
  readonly id: string;
}

/** The form of an axis over the files of a volume with `source`: `files` is `volumes.NAME/PATTERN`. */
export interface FilesConfig {
  readonly items: { readonly files: string };
  readonly key?: Text | ((item: ItemHandle<FileItem>) => Text);
  readonly of?: Readonly<Record<string, keyof FileItem>>;
  readonly parallelism?: number;
}

/**
 * The form of an axis with `items`. `key` gives the key of an item; `of` names axes and the field with the key of each;
 * `parallelism` limits the items in progress.
 */
export interface AxisConfig<I extends Items> {
  readonly items: I;
  readonly key?: Text | ((item: ItemHandle<ItemOf<I>>) => Text);
  readonly of?: Readonly<Record<string, FieldName<ItemOf<I>>>>;
  readonly parallelism?: number;
}

/** The handle of an axis, untyped: its type is that of the builder's method. */
export function axisHandle(name: string): AnyAxis {
  return { name, item: itemHandle(member('each', name)) };
}

/** The fields of an item are not known here: reading any makes its handle. */
function itemHandle(source: string): ItemHandle<unknown> {
  const handle = expression<unknown>(source);
  return new Proxy(handle, {
    get(target, name, self): unknown {
      if (typeof name === 'symbol' || Object.hasOwn(target, name)) return Reflect.get(target, name);
      return inheritOrigin(itemHandle(member(source, name)), self as object);
    },
  });
}

/** The arguments of `axis`, with the form that the axis has in a file. `check` is called before they are read. */
export function readAxis(
  name: unknown,
  given: unknown,
  check: (given: unknown) => void,
): { readonly name: string; readonly document: unknown } {
  requireArgument(typeof name === 'string', 'axis: the name must be a string');
  check(given);
  const what = `axis ${name}`;
  const key = guardArguments(what, () => (isLongForm(given) ? given.key : undefined));
  // What the program's own function throws is not changed.
  const text: unknown = typeof key === 'function' ? (key as (item: unknown) => unknown)(itemHandle('item')) : key;
  check(text);
  return { name, document: guardArguments(what, () => axisDocument(what, given, text)) };
}

/** Neither a list nor an expression. */
function isLongForm(given: unknown): given is Readonly<Record<string, unknown>> {
  return isObject(given) && !Array.isArray(given) && !('source' in given);
}

function axisDocument(what: string, given: unknown, key: unknown): unknown {
  if (!isLongForm(given)) return readConfig(what, { items: given }).items;
  const { distinct, key: _, ...rest } = given;
  if (distinct !== undefined) return { ...rest, distinct: distinctText(what, distinct) };
  return readConfig(what, { ...rest, ...(key !== undefined && { key }) });
}

function distinctText(what: string, distinct: unknown): string {
  const [axis, field]: readonly unknown[] = Array.isArray(distinct) ? distinct : [];
  requireArgument(
    isObject(axis) && typeof axis.name === 'string' && typeof field === 'string',
    `${what}: distinct must be an axis and the name of a field`,
  );
  return `${axis.name}.${field}`;
}
