import { toCel } from '../expressions/cel-values.ts';
import { type Doubles, findDoubles, mergeDoubles } from '../expressions/doubles.ts';
import { compileTemplate, evaluateJson } from '../expressions/template.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Axis, Pipeline, Step } from '../model/pipeline.ts';
import type { PlannedAxis } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { showJson } from '../render/show-json.ts';
import { ITEM_KEY } from '../schema/patterns.ts';
import { expandEach } from './expand-each.ts';
import { axesOfStep, directlyImplied } from './implied-axes.ts';
import { keyText } from './item-key.ts';
import { listingStep, stepsOfItems } from './listed-axes.ts';

/** By axis over the files of a source: their paths in it, sorted. */
export type AxisFiles = Readonly<Record<string, readonly string[]>>;

/** Limit for the items of one axis. */
const MAX_ITEMS = 100_000;

/** In names, in the place of a key that is not known before its list. No key has this character. */
export const UNLISTED = '*';

interface Draft {
  readonly keys: readonly string[];
  readonly items: readonly Json[];
  readonly doubles?: Doubles;
  readonly places: ReadonlyMap<string, number>;
}

/** The axes of a pipeline with their items, keys and implied items. The error has one fault for each faulty axis. */
export function planAxes(
  pipeline: Pipeline,
  context: Readonly<Record<string, unknown>>,
  files: AxisFiles = {},
): Result<Readonly<Record<string, PlannedAxis>>, readonly Diagnostic[]> {
  const faults: Diagnostic[] = [];
  const drafts = new Map<string, Draft>();
  const report = (axis: string, error: string): void => {
    faults.push({ code: 'bad-axis', severity: 'error', message: `axis \`${axis}\`: ${error}` });
  };
  const axes = pipeline.axes ?? {};
  const take = (name: string, draft: Result<Draft, string>): void => {
    if (draft.ok) drafts.set(name, draft.value);
    else report(name, draft.error);
  };
  for (const [name, axis] of Object.entries(axes)) {
    if (axis.distinct === undefined && stepsOfItems(axis).length === 0)
      take(
        name,
        axis.files === undefined ? listItems(axis, context) : listFiles(axis, { context, paths: own(files, name) }),
      );
  }
  // An axis of distinct values can have the values of another one; a check rejects cycles.
  const open = new Map(Object.entries(axes).filter(([, axis]) => axis.distinct !== undefined));
  for (let before = -1; before !== open.size; ) {
    before = open.size;
    for (const [name, { distinct }] of open) {
      const source = drafts.get(distinct!.axis);
      if (source === undefined) continue;
      open.delete(name);
      take(name, distinctItems(source, distinct!));
    }
  }
  if (faults.length > 0) return fail(faults);
  const planned: Record<string, PlannedAxis> = {};
  const implications = new Map<string, PlannedAxis['implies']>();
  for (const name of drafts.keys()) {
    const implies = implyItems(pipeline, { name, drafts, implications });
    if (!implies.ok) {
      report(name, implies.error);
      continue;
    }
    const { keys, items, doubles } = drafts.get(name)!;
    planned[name] = { keys, items, implies: implies.value, ...(doubles && { doubles }) };
  }
  for (const name of Object.keys(axes)) {
    const listing = listingStep(pipeline, name);
    const batches = listing && planBatches(pipeline, { listing, planned });
    if (batches?.ok) planned[name] = batches.value;
    else if (batches !== undefined) report(name, batches.error);
  }
  return faults.length === 0 ? ok(planned) : fail(faults);
}

/** An axis that a step lists: until its list is known, each cell of that step stands for the items that it will list. */
function planBatches(
  pipeline: Pipeline,
  { listing, planned }: { readonly listing: Step; readonly planned: Readonly<Record<string, PlannedAxis>> },
): Result<PlannedAxis, string> {
  const cells = listing.each === undefined ? ok([]) : expandEach(planned, listing.each);
  if (!cells.ok) return fail(`step \`${listing.name}\`, which lists its items: ${cells.error}`);
  const count = listing.each === undefined ? 1 : cells.value.length;
  const implied = axesOfStep(pipeline, listing);
  return ok({
    keys: Array.from({ length: count }, () => UNLISTED),
    items: Array.from({ length: count }, () => null),
    implies: Object.fromEntries(
      implied.map((axis) => [axis, cells.value.map(({ each = {} }) => own(each, axis) ?? -1)]),
    ),
    listedBy: listing.name,
  });
}

/** The items of an axis with their keys. */
export function listItems(axis: Axis, context: Readonly<Record<string, unknown>>): Result<Draft, string> {
  const evaluated = evaluateJson(axis.items ?? [], () => context);
  if (!evaluated.ok) return evaluated;
  const items = evaluated.value.value;
  if (!Array.isArray(items)) return fail(`its items are ${showJson(items)} instead of a list`);
  return identifyItems(axis, { items, context, doubles: evaluated.value.doubles?.items });
}

/** The files of a source as items. Their key is by default what precedes the first dot of the name. */
function listFiles(
  axis: Axis,
  { context, paths }: { context: Readonly<Record<string, unknown>>; paths: readonly string[] | undefined },
): Result<Draft, string> {
  const { volume, pattern } = axis.files!;
  if (paths === undefined)
    return fail(`the files of \`volumes.${volume}/${pattern}\` are not known here; plan the run where the source is`);
  const naming: Naming = { noun: 'file', nameOf: (index) => `\`${paths[index]}\`` };
  const draft = identifyItems({ key: STEM, ...axis }, { items: paths.map(describeFile), context, naming });
  return draft.ok || axis.key !== undefined
    ? draft
    : fail(`${draft.error}; \`key: \${{ item.id }}\` takes the path instead of the name`);
}

const STEM = '${{ item.stem }}';

/** `stem`: what precedes the first dot of the name; `id`: the path up to there, with the characters of a key. */
function describeFile(path: string): Json {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const stem = name.replace(/(?<=.)\..*$/s, '');
  const id = `${path.slice(0, -name.length)}${stem}`.replace(/[^A-Za-z0-9_-]/g, '-');
  return { path, name, stem, id };
}

/** How messages name an item. */
interface Naming {
  readonly noun: string;
  readonly nameOf: (index: number) => string;
}

const BY_NUMBER: Naming = { noun: 'item', nameOf: (index) => String(index + 1) };

interface Unnamed {
  readonly items: readonly Json[];
  readonly context: object;
  readonly doubles?: Doubles | undefined;
  readonly naming?: Naming;
}

function identifyItems(
  axis: Axis,
  { items, context, doubles: typed, naming = BY_NUMBER }: Unnamed,
): Result<Draft, string> {
  if (items.length > MAX_ITEMS) return fail(`it has ${items.length} ${naming.noun}s; the maximum is ${MAX_ITEMS}`);
  const doubles = mergeDoubles([typed, findDoubles(items)]);
  const keys = readKeys(axis, { items, doubles, context, naming });
  return keys.ok ? createDraft(items, keys.value, { doubles, naming }) : keys;
}

const NO_DOUBLES = Object.freeze({});

function readKeys(
  axis: Axis,
  { items, doubles, context, naming: { noun, nameOf } }: Unnamed & { readonly naming: Naming },
): Result<readonly string[], string> {
  const compiled = axis.key === undefined ? undefined : compileTemplate(axis.key);
  if (compiled?.ok === false) return fail(`its \`key\` cannot be read: ${compiled.error.message}`);
  const keys: string[] = [];
  for (const [index, item] of items.entries()) {
    const value = compiled?.value.evaluate({ ...context, item: toCel(item, doubles ?? NO_DOUBLES) }) ?? ok(item);
    if (!value.ok) return fail(`its \`key\` cannot be evaluated for ${noun} ${nameOf(index)}: ${value.error}`);
    const key = keyText(value.value);
    if (key === undefined && compiled === undefined)
      return fail(`item ${index + 1} is ${showJson(item)}, which is no key; add \`key\`, for example \${{ item.id }}`);
    if (key === undefined || !ITEM_KEY.test(key)) {
      const allowed = 'a key has 1 to 64 letters, digits, `_` and `-`';
      return fail(`the key of ${noun} ${nameOf(index)} is ${showJson(value.value)}, but ${allowed}`);
    }
    keys.push(key);
  }
  return ok(keys);
}

function createDraft(
  items: readonly Json[],
  keys: readonly string[],
  { doubles, naming: { noun, nameOf } = BY_NUMBER }: Partial<Pick<Unnamed, 'doubles' | 'naming'>>,
): Result<Draft, string> {
  const places = new Map<string, number>();
  for (const [index, key] of keys.entries()) {
    const first = places.get(key);
    if (first !== undefined) return fail(`${noun}s ${nameOf(first)} and ${nameOf(index)} have the same key \`${key}\``);
    places.set(key, index);
  }
  return ok({ keys, items, places, ...(doubles && { doubles }) });
}

/** In the order in which the values first appear. */
function distinctItems(source: Draft, { field }: NonNullable<Axis['distinct']>): Result<Draft, string> {
  const items: Json[] = [];
  const keys: string[] = [];
  const seen = new Set<string>();
  for (const [index, item] of source.items.entries()) {
    const value = fieldOf(item, field);
    if (isNone(value)) continue;
    const key = keyText(value!);
    if (key === undefined || !ITEM_KEY.test(key)) {
      const allowed = 'a key has 1 to 64 letters, digits, `_` and `-`';
      return fail(`the \`${field}\` of item ${index + 1} is ${showJson(value!)}, but ${allowed}`);
    }
    if (seen.has(key)) continue;
    seen.add(key);
    items.push(value!);
    keys.push(key);
  }
  return createDraft(items, keys, { doubles: own(source.doubles?.keys, field) });
}

function fieldOf(item: Json, field: string): Json | undefined {
  const isMap = typeof item === 'object' && item !== null && !Array.isArray(item);
  return isMap ? own(item as Readonly<Record<string, Json>>, field) : undefined;
}

function isNone(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '';
}

interface Implying {
  readonly name: string;
  readonly drafts: ReadonlyMap<string, Draft>;
  /** Of the axes that have been computed. */
  readonly implications: Map<string, PlannedAxis['implies']>;
}

/** What the items of an axis imply, through other axes too. */
function implyItems(
  pipeline: Pipeline,
  { name, drafts, implications }: Implying,
): Result<PlannedAxis['implies'], string> {
  const known = implications.get(name);
  if (known !== undefined) return ok(known);
  const axes = pipeline.axes ?? {};
  const draft = drafts.get(name)!;
  const implies: Record<string, number[]> = {};
  for (const other of directlyImplied(pipeline).get(name)!) {
    const field = own(own(axes, name)!.of, other) ?? own(axes, other)!.distinct!.field;
    const isDistinct = own(own(axes, name)!.of, other) === undefined;
    const direct = findItems(draft, { field, other, target: drafts.get(other)!, isDistinct });
    if (!direct.ok) return direct;
    const further = implyItems(pipeline, { name: other, drafts, implications });
    if (!further.ok) return fail(`axis \`${other}\`: ${further.error}`);
    const all = Object.entries(further.value).map(
      ([axis, items]) => [axis, direct.value.map((item) => (item < 0 ? -1 : items[item]!))] as const,
    );
    for (const [axis, items] of [[other, direct.value] as const, ...all]) {
      const before = own(implies, axis);
      const conflict = before?.findIndex((item, index) => item !== items[index]) ?? -1;
      if (before !== undefined && conflict >= 0) {
        const named = [before, items].map((list) => drafts.get(axis)!.keys[list[conflict]!] ?? 'none');
        return fail(
          `item ${conflict + 1} (\`${draft.keys[conflict]}\`) implies two items of axis \`${axis}\`: ${named.join(' and ')}`,
        );
      }
      implies[axis] = items;
    }
  }
  implications.set(name, implies);
  return ok(implies);
}

function findItems(
  { items, keys }: Draft,
  { field, other, target, isDistinct }: { field: string; other: string; target: Draft; isDistinct: boolean },
): Result<number[], string> {
  const found: number[] = [];
  for (const [index, item] of items.entries()) {
    const value = fieldOf(item, field);
    const key = value === undefined ? undefined : keyText(value);
    const place = key === undefined ? undefined : target.places.get(key);
    if (place === undefined && !(isDistinct && isNone(value))) {
      const shown = value === undefined ? `has no field \`${field}\`` : `has the \`${field}\` ${showJson(value)}`;
      return fail(`item ${index + 1} (\`${keys[index]}\`) ${shown}, but axis \`${other}\` has no such item`);
    }
    found.push(place ?? -1);
  }
  return ok(found);
}
