import fc from 'fast-check';
import {
  type Batches,
  type BoundItem,
  type BoundItems,
  type batchesOfPlan,
  type bindListed,
  type boundEdges,
  type CellMatch,
  forEachBound,
  type listedSteps,
  own,
  type Plan,
  type PlannedDependency,
  type PlannedStep,
  UNBOUND_ITEM,
} from '../../src/index.ts';
import { resolvePipeline } from '../../src/parse/resolve-pipeline.ts';
import { type AxesSubject, refusedOr, toPipeline } from './compare-axes.ts';
import { type AxesDocument, type InputDocument, type Keys, type NaiveMatch, naiveAxes } from './naive-axes.ts';
import { randomAxes } from './random-axes.ts';

/** What is compared with the naive evaluator: this package, or a copy with a bug. */
export interface ListedSubject extends AxesSubject {
  readonly matchedCells: (
    match: CellMatch,
    cell: number,
    batches?: {
      readonly reader: Batches | undefined;
      readonly source: Batches | undefined;
      readonly bound: BoundItems | undefined;
    },
  ) => readonly number[];
  readonly batchesOfPlan: typeof batchesOfPlan;
  readonly listedSteps: typeof listedSteps;
  readonly boundEdges: typeof boundEdges;
  readonly bindListed: typeof bindListed;
}

/** Axes without the listed one, `list`: the first step lists its items, and steps after it have it in `each`. */
export interface ListedDocument {
  readonly document: AxesDocument;
  /** By step after the first one: the place of the axis in its `each`; -1: it does not have it. */
  readonly places: readonly number[];
  /** Steps whose inputs release the axis. */
  readonly released: readonly boolean[];
  /** What `where` names of the axis, in inputs of a step without other rules. */
  readonly named: readonly (Named | undefined)[];
  /** How many items each cell of the first step lists, again and again; and which of them is known first. */
  readonly sizes: readonly number[];
  readonly first: number;
}

/** Keys in a list: one, or several. */
type Named = string | readonly string[];

const AXIS = 'list';
const NAMED: readonly (Named | undefined)[] = [
  ...[undefined, undefined, undefined, 'i0', 'i1', ''],
  ...[['i1', 'i0'], ['i0'], ['', 'i1', 'i1'], []],
];

export const randomListedAxes: fc.Arbitrary<ListedDocument> = fc.record({
  document: randomAxes,
  places: fc.array(fc.integer({ min: -1, max: 3 }), { minLength: 6, maxLength: 6 }),
  released: fc.array(
    fc.nat(5).map((n) => n === 0),
    { minLength: 6, maxLength: 6 },
  ),
  named: fc.array(fc.constantFrom(...NAMED), { minLength: 6, maxLength: 6 }),
  sizes: fc.array(fc.nat(2), { minLength: 5, maxLength: 5 }),
  first: fc.nat(20),
});

/**
 * The first difference between the subject and the naive evaluator. An axis that a step lists means, when all lists are known,
 * the same as one whose items imply those of the cell that listed them.
 */
export function compareListedAxes(subject: ListedSubject, given: ListedDocument): string | undefined {
  const { document, sizes } = given;
  const [lister = ''] = Object.keys(document.steps);
  const listing = refusedOr(() => naiveAxes(document).cellsOf(lister));
  if (listing === undefined) return undefined;
  const of = Object.fromEntries((document.steps[lister]!.each ?? []).map((axis) => [axis, `of_${axis}`]));
  const steps = addAxis(given);
  const documentOf = (sizeOf: (cell: number) => number): AxesDocument => {
    const items = listing.flatMap(({ keys }, cell) => {
      const implied = Object.entries(of).map(([axis, field]) => [field, keys.get(axis)!]);
      return Array.from({ length: sizeOf(cell) }, (_, item) => ({
        id: `c${cell}-i${item}`,
        ...Object.fromEntries(implied),
      }));
    });
    return { axes: { ...document.axes, [AXIS]: { items, key: '${{ item.id }}', of } }, steps };
  };
  const describe = (sizeOf: (cell: number) => number) => {
    const listOf = (keys: Keys): number | undefined => {
      const cell = listing.findIndex((one) => Object.keys(of).every((axis) => one.keys.get(axis) === keys.get(axis)));
      return cell < 0 ? undefined : sizeOf(cell);
    };
    const planned = naiveAxes(documentOf((cell) => Math.max(1, sizeOf(cell))));
    return describeKnown(documentOf(sizeOf), { planned, listOf });
  };
  const listed = {
    ...document.axes,
    [AXIS]: `\${{ steps.${lister}.results.${AXIS} }}` as unknown as readonly string[],
  };
  const raw = toPipeline({ axes: listed, steps });
  Object.assign(raw.steps![lister]!, { results: { [AXIS]: 'array' } });
  const plan = subject.createPlan(resolvePipeline(raw));
  const wanted = refusedOr(() => describe((cell) => sizes[cell % sizes.length]!));
  if (!plan.ok) {
    // When a pipeline is planned, each list may have an item.
    const isRefused = wanted === undefined || refusedOr(() => describe(() => 1)) === undefined;
    return isRefused ? undefined : `refused: ${plan.error.map(({ message }) => message).join('; ')}`;
  }
  if (wanted === undefined) return 'planned what the rules refuse';
  const found = describeListed(subject, plan.value, { ...given, steps });
  const different = wanted.findIndex((line, index) => line !== found[index]);
  return different < 0 ? undefined : `wanted ${wanted[different]}\nfound  ${found[different]}`;
}

function addAxis({ document: { steps }, places, released, named }: ListedDocument): AxesDocument['steps'] {
  const listing = Object.values(steps)[0]!.each ?? [];
  const added = Object.entries(steps).map(([name, step], index) => {
    const { each = [], inputs = {} } = step;
    const place = places[index]!;
    // The list has to be known: `sluice check` rejects the others.
    const isFixed = place >= 0 || listing.every((axis) => each.includes(axis));
    const withRules = (one: InputDocument): InputDocument => {
      if (released[index]) return { ...one, all: [...(one.all ?? []), AXIS] };
      const isPlain = one.where === undefined && one.all === undefined;
      return isPlain && isFixed && named[index] !== undefined ? { ...one, where: { [AXIS]: named[index] } } : one;
    };
    const all = Object.fromEntries(Object.entries(inputs).map(([input, one]) => [input, withRules(one)]));
    if (index === 0) return [name, step];
    return [name, place < 0 ? { ...step, inputs: all } : { each: each.toSpliced(place, 0, AXIS), inputs: all }];
  });
  return Object.fromEntries(added);
}

/** Steps without axes are matched as a whole. */
function edgesOf(steps: AxesDocument['steps']) {
  return Object.entries(steps).flatMap(([reader, { each, inputs = {} }]) =>
    Object.entries(inputs).flatMap(([input, document]) =>
      [document.from].flat().flatMap((from) => {
        const source = from.slice(0, from.indexOf('.'));
        return each === undefined || steps[source]!.each === undefined ? [] : [{ reader, input, document, source }];
      }),
    ),
  );
}

/** What is known of the lists. */
interface KnownLists {
  /** The same, with an item in each empty list: a cell with nothing to read even then reads no list, and can name no wrong key. */
  readonly planned: ReturnType<typeof naiveAxes>;
  /** The size of the list that a cell reads. */
  readonly listOf: (keys: Keys) => number | undefined;
}

/** What `where` names in the list of a reader: its cells are those of all items of this list with these keys. */
function matchNamed(
  naive: ReturnType<typeof naiveAxes>,
  { reader, source, named }: { readonly reader: string; readonly source: string; readonly named: Named },
  { planned, listOf }: KnownLists,
): NaiveMatch {
  const itemOf = new Map(naive.cellsOf(source).map(({ name, keys }) => [name, keys.get(AXIS)!.split('-')[1]!]));
  const all = naive.match(reader, source, { from: '', all: [AXIS] });
  const ofPlan = planned.match(reader, source, { from: '', all: [AXIS] });
  const reads = new Map(
    planned.cellsOf(reader).map(({ keys }, index) => [describeKeys(keys), ofPlan.cells[index]!.length > 0]),
  );
  const wanted = [named].flat().filter((key) => key !== '');
  return {
    isSingle: !Array.isArray(named) && naive.match(reader, source, { from: '', where: { [AXIS]: '' } }).isSingle,
    cells: naive.cellsOf(reader).map(({ keys }, index) => {
      if (reads.get(describeKeys(keys)) !== true) return [];
      const size = listOf(keys);
      if (size !== undefined && !wanted.every((key) => Number(key.slice(1)) < size)) return [UNKNOWN];
      return all.cells[index]!.filter((name) => wanted.includes(itemOf.get(name)!));
    }),
  };
}

const UNKNOWN = 'unknown';

function describeKnown(document: AxesDocument, lists: KnownLists): readonly string[] {
  const naive = naiveAxes(document);
  const idOf = (keys: Keys) => describeKeys([...keys].filter((one): one is [string, string] => one[1] !== null));
  const cells = Object.entries(document.steps).flatMap(([name, { each }]) =>
    each === undefined
      ? []
      : [
          `${name}: ${naive
            .cellsOf(name)
            .map(({ keys }) => idOf(keys))
            .sort()
            .join(' ')}`,
        ],
  );
  const edges = edgesOf(document.steps).map(({ reader, input, document: rules, source }) => {
    const ids = new Map(naive.cellsOf(source).map(({ name, keys }) => [name, idOf(keys)]));
    const { where: { [AXIS]: named, ...where } = {}, ...others } = rules;
    const isNamed = named !== undefined && document.steps[source]!.each!.includes(AXIS);
    const match = isNamed
      ? matchNamed(naive, { reader, source, named }, lists)
      : naive.match(reader, source, { ...others, ...(Object.keys(where).length > 0 && { where }) });
    const meant = naive.cellsOf(reader).map(
      ({ keys }, index) =>
        `${idOf(keys)} [${match.cells[index]!.map((name) => ids.get(name) ?? name)
          .sort()
          .join(' ')}]`,
    );
    return describeEdge(`${reader}.${input} from ${source}`, match.isSingle, meant);
  });
  return [...cells, ...edges];
}

function describeEdge(edge: string, isSingle: boolean, meant: readonly string[]): string {
  const isEmpty = meant.every((one) => one.endsWith(' []'));
  return `${edge}, ${isEmpty ? 'nothing' : isSingle ? 'single' : 'directory'}: ${[...meant].sort().join(' ')}`;
}

function describeKeys(keys: Iterable<readonly [axis: string, key: string | null]>): string {
  return [...keys]
    .map(([axis, key]) => `${axis}=${key}`)
    .sort()
    .join();
}

function describeListed(
  subject: ListedSubject,
  plan: Plan,
  { steps, sizes, first }: ListedDocument & { readonly steps: AxesDocument['steps'] },
): readonly string[] {
  const batches = subject.batchesOfPlan(plan);
  const bound = new Map<PlannedDependency, Map<number, BoundItem>>();
  const count = plan.steps[0]!.cells!.length;
  for (let turn = 0; turn < count; turn++) {
    const cell = (turn + first) % count;
    for (const { steps: over, batchesOf } of subject.listedSteps(plan).get(0) ?? [])
      for (const step of over)
        for (const batch of batchesOf(step, cell)) batches[step]!.expand(batch, sizes[cell % sizes.length]!);
    const items = Array.from({ length: sizes[cell % sizes.length]! }, (_, item) => ({ key: `i${item}`, item }));
    const { bound: names = [] } = subject.bindListed(plan, { step: 0, cell }, { [AXIS]: items });
    for (const [at, edge] of (subject.boundEdges(plan).get(0) ?? []).entries()) {
      const known = bound.get(edge.dependency) ?? new Map<number, BoundItem>();
      bound.set(edge.dependency, known);
      const given = { listing: cell, batches: batches[edge.reader], named: names[at]! };
      forEachBound(edge, given, (reader, item) => known.set(reader, item));
    }
  }
  const numbersOf = ({ index, cells = [] }: PlannedStep) =>
    cells.flatMap((_, cell) => batches[index]?.members(cell) ?? [cell]);
  const idOf = (step: number, cell: number) => {
    const of = batches[step];
    const each = Object.entries(plan.steps[step]!.cells![of?.batchOf(cell) ?? cell]!.each!);
    return describeKeys(
      each.map(([axis, item]) => [
        axis,
        axis === AXIS ? `c${item}-i${of!.placeOf(cell)}` : own(plan.axes!, axis)!.keys[item]!,
      ]),
    );
  };
  const cells = plan.steps.flatMap((planned) => {
    if (planned.step.each === undefined) return [];
    return [
      `${planned.step.name}: ${numbersOf(planned)
        .map((cell) => idOf(planned.index, cell))
        .sort()
        .join(' ')}`,
    ];
  });
  const edges = edgesOf(steps).map(({ reader, input, document, source }) => {
    const planned = plan.steps.find(({ step }) => step.name === reader)!;
    const on = plan.steps.findIndex(({ step }) => step.name === source);
    const hasRules = document.where !== undefined || document.all !== undefined || Array.isArray(document.from);
    const dependency = planned.dependencies.find(
      (one) => one.on === on && one.input === (hasRules ? input : undefined),
    );
    if (dependency === undefined) return `${reader}.${input} from ${source} is no dependency`;
    const match = subject.matchOf(plan, planned, dependency);
    const meant = numbersOf(planned).map((cell) => {
      const named = bound.get(dependency);
      const edge = { reader: batches[planned.index], source: batches[on], bound: named };
      const found = subject.matchedCells(match, cell, edge).map((one) => idOf(on, one));
      const read = named?.get(cell) === UNBOUND_ITEM.unknown ? [UNKNOWN] : found.sort();
      return `${idOf(planned.index, cell)} [${read.join(' ')}]`;
    });
    return describeEdge(`${reader}.${input} from ${source}`, match.isSingle, meant);
  });
  return [...cells, ...edges];
}
