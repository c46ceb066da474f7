import type { Json } from '../model/json.ts';
import { type ExpressionHandle, expression, handlesUnder, type Text } from './expression-handle.ts';

/** Axes of a matrix by name, and the keys `include` and `exclude` of the file. */
export type MatrixShape = Readonly<Record<string, readonly Json[] | ExpressionHandle<readonly unknown[]>>>;

/** A list, or an expression that yields one. */
export type Items = readonly Json[] | ExpressionHandle<readonly unknown[]>;

/** What gives a step its cells: a `matrix`, or `foreach`. `key`, a text with `item`, names the cell. */
export type CellsConfig =
  | { readonly matrix: MatrixShape; readonly each?: never; readonly final?: boolean }
  | {
      /** A list, or the map of a file. */
      readonly foreach: Items | { readonly items: Items; readonly key?: Text };
      /** As `key` in the map; not beside the map. */
      readonly key?: Text;
      readonly each?: never;
      readonly final?: boolean;
    };

/** The values of one cell: `matrix` has the axes, those that only `include` names too; `item` is that of `foreach`. */
export type CellHandles<C> = C extends { readonly matrix: infer M }
  ? { readonly matrix: AxisHandles<M> }
  : C extends { readonly foreach: infer F }
    ? { readonly item: ExpressionHandle<ItemOf<ItemsOf<F>>> }
    : never;

/** The type of a value whose literal is only an example: `5` is a number, `'a'` a string. */
export type Widen<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends boolean
      ? boolean
      : T extends readonly (infer I)[]
        ? readonly Widen<I>[]
        : T extends object
          ? { readonly [K in keyof T]: Widen<T[K]> }
          : T;

type AxisHandles<M> = {
  readonly [K in AxisName<M>]: ExpressionHandle<AxisValue<M, K> | IncludedValue<M, K>>;
};
type AxisName<M> = Exclude<keyof M & string, 'include' | 'exclude'> | IncludedName<M>;
type AxisValue<M, K> = K extends keyof M ? ItemOf<M[K]> : never;
type Included<M> = M extends { readonly include: readonly (infer I)[] } ? I : never;
type IncludedName<M> = Included<M> extends infer I ? (I extends unknown ? keyof I & string : never) : never;
type IncludedValue<M, K extends string> =
  Included<M> extends infer I ? (I extends { readonly [P in K]: infer T } ? Widen<T> : never) : never;
type ItemsOf<F> = F extends { readonly items: infer I } ? (F extends ExpressionHandle<unknown> ? F : I) : F;
/** The type of the items of a list. */
export type ItemOf<T> = T extends readonly (infer I)[]
  ? Widen<I>
  : T extends ExpressionHandle<readonly (infer I)[]>
    ? I
    : unknown;

/** What the config of a step with such cells is called with. */
export function cellHandles(cells: CellsConfig): Readonly<Record<string, unknown>> {
  if ('foreach' in cells) return { item: expression('item') };
  const { include, exclude: _, ...axes } = cells.matrix;
  const included = Array.isArray(include) ? include.flatMap((entry) => Object.keys(entry ?? {})) : [];
  return { matrix: handlesUnder('matrix', new Set([...Object.keys(axes), ...included])) };
}

/** The keys of the step in the file's form. */
export function cellsDocument(cells: CellsConfig): Readonly<Record<string, unknown>> {
  if ('matrix' in cells) return { matrix: cells.matrix };
  const { foreach, key } = cells;
  return { foreach: key === undefined ? foreach : { items: foreach, key } };
}
