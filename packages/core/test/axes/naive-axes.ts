import type { Json } from '../../src/index.ts';

/** An axis in the form of a file, as far as the random pipelines use it. */
export type AxisDocument =
  | readonly string[]
  | {
      readonly items: readonly Readonly<Record<string, Json>>[];
      readonly key: string;
      readonly of?: Readonly<Record<string, string>>;
    }
  | { readonly distinct: string };

export interface InputDocument {
  readonly from: string | readonly string[];
  readonly where?: Readonly<Record<string, string | readonly string[]>>;
  readonly all?: readonly string[];
}

export interface StepDocument {
  readonly each?: readonly string[];
  readonly inputs?: Readonly<Record<string, InputDocument>>;
}

export interface AxesDocument {
  readonly axes: Readonly<Record<string, AxisDocument>>;
  readonly steps: Readonly<Record<string, StepDocument>>;
}

/** By axis, the key of its item; null: no item. */
export type Keys = ReadonlyMap<string, string | null>;

export interface NaiveMatch {
  readonly isSingle: boolean;
  /** By cell of the reader: the names of the cells that it means. */
  readonly cells: readonly (readonly string[])[];
}

export interface NaiveAxes {
  /** With all axes of the step. */
  readonly cellsOf: (step: string) => readonly { readonly name: string; readonly keys: Keys }[];
  readonly match: (reader: string, source: string, input: InputDocument) => NaiveMatch;
}

/** What the documented rules refuse. */
export class RefusedAxes extends Error {}

/**
 * The rules of axes, written from their description and as plainly as possible: every combination is looked at, and
 * nothing is remembered.
 */
export function naiveAxes({ axes, steps }: AxesDocument): NaiveAxes {
  const rules = { axes, implied: (axis: string) => impliedAxes(axes, axis) };
  for (const axis of Object.keys(axes)) {
    const keys = keysOf(axes, axis);
    if (new Set(keys).size < keys.length) throw new RefusedAxes(`duplicate keys of ${axis}`);
    for (const key of keys) impliedKeys(axes, axis, key);
  }
  const cellsOf = (step: string) => expand(axes, steps[step]!.each ?? []);
  return {
    cellsOf,
    match(reader, source, input) {
      const has = axesOf(rules, steps[source]!);
      const isList = Object.values(input.where ?? {}).some((keys) => Array.isArray(keys) || keys.includes('['));
      const agreeing = [...keptAxes(rules, steps[reader]!, input), ...boundAxes(rules, input)].filter((axis) =>
        has.has(axis),
      );
      const fixed = new Set(agreeing.flatMap((axis) => [axis, ...rules.implied(axis)]));
      return {
        isSingle: !isList && (steps[source]!.each ?? []).every((axis) => fixed.has(axis)),
        cells: cellsOf(reader).map((cell) => {
          const wanted = wantedKeys(rules, { cell: cell.keys, step: steps[reader]!, input });
          return cellsOf(source)
            .filter(({ keys }) => wanted.some((one) => agree(rules, { wanted: one, keys, has })))
            .map(({ name }) => name);
        }),
      };
    },
  };
}

interface Rules {
  readonly axes: AxesDocument['axes'];
  readonly implied: (axis: string) => ReadonlySet<string>;
}

function itemsOf(axes: Rules['axes'], name: string): readonly Json[] {
  const axis = axes[name]!;
  if (Array.isArray(axis)) return axis;
  return 'items' in axis ? axis.items : [];
}

function keysOf(axes: Rules['axes'], name: string): readonly string[] {
  const axis = axes[name]!;
  if ('distinct' in axis) {
    const [source = '', field = ''] = axis.distinct.split('.');
    const values = itemsOf(axes, source).map((item) => fieldOf(item, field));
    return [...new Set(values.filter((value) => value !== null))];
  }
  return itemsOf(axes, name).map((item) => fieldOf(item, 'id')!);
}

/** The text in a field of an item, or of the item itself if it is a text; null: empty. */
function fieldOf(item: Json, field: string): string | null {
  const value = typeof item === 'string' ? item : (item as Readonly<Record<string, Json>>)[field];
  return value === undefined || value === null || value === '' ? null : String(value);
}

/** The axes that an axis implies directly, and the field that says which item. */
function directFields(axes: Rules['axes'], name: string): readonly (readonly [axis: string, field: string])[] {
  const axis = axes[name]!;
  const distinct = Object.entries(axes).flatMap(([other, one]) => {
    const [source, field = ''] = 'distinct' in one ? one.distinct.split('.') : [];
    return source === name ? [[other, field] as const] : [];
  });
  return [...('of' in axis ? Object.entries(axis.of ?? {}) : []), ...distinct];
}

function impliedAxes(axes: Rules['axes'], name: string): ReadonlySet<string> {
  return new Set(directFields(axes, name).flatMap(([other]) => [other, ...impliedAxes(axes, other)]));
}

function impliedKeys(axes: Rules['axes'], name: string, key: string): Keys {
  const all = new Map<string, string | null>();
  const add = (axis: string, value: string | null): void => {
    if (all.has(axis) && all.get(axis) !== value) throw new RefusedAxes(`${name} ${key} implies two of ${axis}`);
    all.set(axis, value);
  };
  const item = itemsOf(axes, name).find((one) => fieldOf(one, 'id') === key);
  for (const [other, field] of directFields(axes, name)) {
    const value = item === undefined ? null : fieldOf(item, field);
    const isOptional = 'distinct' in axes[other]! && !Object.hasOwn((axes[name] as { of?: object }).of ?? {}, other);
    if (value === null ? !isOptional : !keysOf(axes, other).includes(value))
      throw new RefusedAxes(`${name} ${key} names an unknown item of ${other}`);
    add(other, value);
    if (value === null) for (const further of impliedAxes(axes, other)) add(further, null);
    else for (const [further, one] of impliedKeys(axes, other, value)) add(further, one);
  }
  return all;
}

/** Undefined: two of them imply different items of an axis. */
function combine(axes: Rules['axes'], items: readonly (readonly [axis: string, key: string])[]): Keys | undefined {
  const all = new Map<string, string | null>();
  for (const [axis, key] of items) {
    for (const [other, value] of [[axis, key] as const, ...impliedKeys(axes, axis, key)]) {
      if (all.has(other) && all.get(other) !== value) return undefined;
      all.set(other, value);
    }
  }
  return all;
}

function expand(axes: Rules['axes'], each: readonly string[]) {
  let combinations: (readonly (readonly [string, string])[])[] = [[]];
  for (const axis of each) {
    combinations = combinations.flatMap((before) => keysOf(axes, axis).map((key) => [...before, [axis, key] as const]));
  }
  return combinations.flatMap((items) => {
    const keys = combine(axes, items);
    return keys === undefined ? [] : [{ name: items.map(([, key]) => key).join(','), keys }];
  });
}

function axesOf({ implied }: Rules, { each = [] }: StepDocument): ReadonlySet<string> {
  return new Set(each.flatMap((axis) => [axis, ...implied(axis)]));
}

/** The axes of the reader that neither `where` replaces nor `all` releases. */
function keptAxes(rules: Rules, step: StepDocument, { where = {}, all = [] }: InputDocument): readonly string[] {
  const isReplaced = (axis: string) =>
    Object.keys(where).some(
      (bound) => axis === bound || rules.implied(bound).has(axis) || rules.implied(axis).has(bound),
    );
  const isReleased = (axis: string) => all.some((one) => axis === one || rules.implied(axis).has(one));
  return [...axesOf(rules, step)].filter((axis) => !isReplaced(axis) && !isReleased(axis));
}

function boundAxes({ implied }: Rules, { where = {} }: InputDocument): readonly string[] {
  return Object.keys(where).flatMap((axis) => [axis, ...implied(axis)]);
}

/** What a cell wants of the axes that its input fixes: one entry for each combination of the keys in `where`. */
function wantedKeys(
  rules: Rules,
  { cell, step, input }: { cell: Keys; step: StepDocument; input: InputDocument },
): readonly Keys[] {
  const kept = keptAxes(rules, step, input).map((axis) => [axis, cell.get(axis) ?? null] as const);
  let combinations: (readonly (readonly [string, string])[])[] = [[]];
  for (const [axis, written] of Object.entries(input.where ?? {})) {
    const keys = [written].flat().flatMap((text) => evaluate(rules, text, cell));
    for (const key of keys) {
      if (key !== '' && !keysOf(rules.axes, axis).includes(key)) throw new RefusedAxes(`${axis} has no ${key}`);
    }
    const given = keys.filter((key) => key !== '');
    combinations = combinations.flatMap((before) => given.map((key) => [...before, [axis, key] as const]));
  }
  return combinations.flatMap((items) => {
    const bound = combine(rules.axes, items);
    return bound === undefined ? [] : [new Map([...kept, ...bound])];
  });
}

/** A text without expression, `${{ each.axis }}`, `${{ each.axis.field }}` or a list of such values. */
function evaluate({ axes }: Rules, text: string, cell: Keys): readonly string[] {
  const source = /^\$\{\{ \[?(.*?)\]? \}\}$/.exec(text)?.[1];
  if (source === undefined) return [text];
  return source.split(', ').map((one) => {
    const [, axis = '', field = 'id'] = one.split('.');
    const item = itemsOf(axes, axis).find((given) => fieldOf(given, 'id') === cell.get(axis));
    return item === undefined ? cell.get(axis)! : (fieldOf(item, field) ?? '');
  });
}

/**
 * Whether a cell agrees with what is wanted on all axes that both have. A cell without an item of an axis agrees with none
 * on it, unless an axis on which they do agree decides that neither has an item.
 */
function agree(
  { implied }: Rules,
  { wanted, keys, has }: { wanted: Keys; keys: Keys; has: ReadonlySet<string> },
): boolean {
  const both = [...wanted.keys()].filter((axis) => has.has(axis));
  const isSame = (axis: string) => (wanted.get(axis) ?? null) !== null && wanted.get(axis) === keys.get(axis);
  return both.every((axis) => {
    if (isSame(axis)) return true;
    const hasNone = (wanted.get(axis) ?? null) === null && (keys.get(axis) ?? null) === null;
    return hasNone && both.some((other) => implied(other).has(axis) && isSame(other));
  });
}
