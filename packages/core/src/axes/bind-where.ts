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
import { isListedAxis, listingStep } from './listed-axes.ts';

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

/** The keys that `where` gives for the items of a list. */
export interface ListedKeys {
  readonly keys: readonly string[];
  /** Whether it has a list for this cell. */
  readonly isList: boolean;
}

/** Returns what a cell means: its own items of the kept axes, with those of `where` and what they imply. */
export function createBinder(
  plan: Plan,
  { where, kept }: { readonly where: Readonly<Record<string, JsonTemplate>>; readonly kept: readonly string[] },
): (cell: Cell) => Result<Bound, string> {
  const axes = plan.axes ?? {};
  const fixed = fixedContext(plan);
  const listed = Object.keys(where).find((axis) => isListedAxis(plan.pipeline, axis));
  const bindings = Object.entries(where).flatMap(([axis, template]) =>
    axis === listed ? [] : [createBinding(axes, axis, template)],
  );
  const findList = listed === undefined ? (rows: readonly Row[]) => rows : createListFinder(plan, listed);
  return (cell) => {
    const context = { each: itemsOf(axes, cell), ...fixed };
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
    if (hasList && listed !== undefined)
      return fail(`it names an item of \`${listed}\`, but its other keys choose several lists of them`);
    return ok<Bound>({
      rows: findList(
        rows
          .filter((row) => remaining.every((item) => agree(row, item)))
          .map((row) => ({ ...Object.fromEntries(kept.map((axis) => [axis, own(cell.each, axis) ?? -1])), ...row })),
      ),
      isList: hasList,
    });
  };
}

/** Adds the list of a listed axis that the items of the step that lists it fix, until the item in it is known. */
function createListFinder(plan: Plan, axis: string): (rows: readonly Row[]) => readonly Row[] {
  const { keys, implies } = own(plan.axes!, axis)!;
  const names = listingStep(plan.pipeline, axis)?.each ?? [];
  const lists = new Map(keys.map((_, list) => [names.map((name) => own(implies, name)![list]!).join(), list]));
  return (rows) =>
    rows.flatMap((row) => {
      const list = lists.get(names.map((name) => own(row, name) ?? -1).join());
      return list === undefined ? [] : [{ ...row, [axis]: list }];
    });
}

/** What `where` gives for the items of a list, for each cell. An empty key is no item. */
export function createListedKeys(plan: Plan, template: JsonTemplate): (cell: Cell) => Result<ListedKeys, string> {
  const evaluate = createEvaluation(template);
  const fixed = fixedContext(plan);
  return (cell) => {
    const value = evaluate({ each: itemsOf(plan.axes ?? {}, cell), ...fixed });
    if (!value.ok) return value;
    const isList = Array.isArray(value.value);
    const keys: string[] = [];
    for (const given of isList ? (value.value as readonly Json[]) : [value.value]) {
      if (given === '' || given === null) continue;
      const key = keyText(given);
      if (key === undefined) return fail(`it is ${showJson(given)}, which is no key`);
      keys.push(key);
    }
    return ok({ keys, isList });
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
