import { compileTemplate } from '../expressions/template.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Cell, Plan, PlannedAxis } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { JsonTemplate } from '../model/template.ts';
import { fixedContext } from '../plan/fixed-context.ts';
import { showJson } from '../render/show-json.ts';
import { keyText } from './item-key.ts';
import { itemsOf } from './items-of.ts';

type Axes = Readonly<Record<string, PlannedAxis>>;
/** By axis, the index of an item; -1: none. */
export type Row = Readonly<Record<string, number>>;

/** What a cell means by `where`. */
export interface Bound {
  /** The combinations of items that the cell means. */
  readonly rows: readonly Row[];
  /** Whether `where` has a list for this cell. */
  readonly isList: boolean;
}

/** Returns what a cell means: its own items of the kept axes, with those of `where` and what they imply. */
export function createBinder(
  plan: Plan,
  { where, kept }: { readonly where: Readonly<Record<string, JsonTemplate>>; readonly kept: readonly string[] },
): (cell: Cell) => Result<Bound, string> {
  const axes = plan.axes ?? {};
  const fixed = fixedContext(plan);
  const bindings = Object.entries(where).map(([axis, template]) => createBinding(axes, axis, template));
  return (cell) => {
    const context = { ...fixed, each: itemsOf(axes, cell) };
    let rows: readonly Row[] = [{}];
    let hasList = false;
    for (const bind of bindings) {
      const bound = bind(context);
      if (!bound.ok) return bound;
      hasList ||= bound.value.isList;
      const items = bound.value.rows;
      rows = rows.flatMap((row) => items.filter((item) => agree(row, item)).map((item) => ({ ...row, ...item })));
    }
    // What the cell keeps of its own can imply other items than those of `where`.
    const remaining = kept.flatMap((axis) => {
      const item = own(cell.each, axis);
      return item === undefined ? [] : [withImplied(axes, axis, item)];
    });
    return ok({
      rows: rows
        .filter((row) => remaining.every((item) => agree(row, item)))
        .map((row) => ({ ...Object.fromEntries(kept.map((axis) => [axis, own(cell.each, axis) ?? -1])), ...row })),
      isList: hasList,
    });
  };
}

/** Returns the items that `where` names of one axis. */
function createBinding(
  axes: Axes,
  axis: string,
  template: JsonTemplate,
): (context: Readonly<Record<string, unknown>>) => Result<Bound, string> {
  const evaluate = createEvaluation(template);
  const places = new Map(own(axes, axis)!.keys.map((key, place) => [key, place]));
  return (context) => {
    const value = evaluate(context);
    if (!value.ok) return value;
    const isList = Array.isArray(value.value);
    const rows: Row[] = [];
    for (const key of isList ? (value.value as readonly Json[]) : [value.value]) {
      // As a field of a `distinct` axis, an empty value is no item.
      if (key === '' || key === null) continue;
      const place = places.get(keyText(key) ?? '');
      if (place === undefined) return fail(`axis \`${axis}\` has no item ${showJson(key)}`);
      rows.push(withImplied(axes, axis, place));
    }
    return ok({ rows, isList });
  };
}

/** Compiles a key or a list of keys, because it is evaluated for every cell. */
function createEvaluation(
  template: JsonTemplate,
): (context: Readonly<Record<string, unknown>>) => Result<Json, string> {
  if (Array.isArray(template)) {
    const all = (template as readonly JsonTemplate[]).map(createEvaluation);
    return (context) => {
      const values = all.map((evaluate) => evaluate(context));
      return values.find((value) => !value.ok) ?? ok(values.flatMap((value) => (value.ok ? [value.value] : [])));
    };
  }
  if (typeof template !== 'string') return () => ok(template as Json);
  const compiled = compileTemplate(template);
  return compiled.ok ? compiled.value.evaluate : () => fail(compiled.error.message);
}

function agree(row: Row, other: Row): boolean {
  return Object.entries(other).every(([axis, item]) => !Object.hasOwn(row, axis) || own(row, axis) === item);
}

/** An item and those that it implies. */
function withImplied(axes: Axes, axis: string, item: number): Row {
  const implied = Object.entries(own(axes, axis)!.implies).map(([other, items]) => [other, items[item]!] as const);
  return Object.fromEntries([[axis, item], ...implied]);
}
