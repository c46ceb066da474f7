import fc from 'fast-check';
import {
  type Batches,
  type batchesOfPlan,
  type CellMatch,
  type listedSteps,
  own,
  type Plan,
  type PlannedStep,
} from '../../src/index.ts';
import { resolvePipeline } from '../../src/parse/resolve-pipeline.ts';
import { type AxesSubject, refusedOr, toPipeline } from './compare-axes.ts';
import { type AxesDocument, type Keys, naiveAxes } from './naive-axes.ts';
import { randomAxes } from './random-axes.ts';

/** What is compared with the naive evaluator: this package, or a copy with a bug. */
export interface ListedSubject extends AxesSubject {
  readonly matchedCells: (
    match: CellMatch,
    cell: number,
    batches?: { readonly reader: Batches | undefined; readonly source: Batches | undefined },
  ) => readonly number[];
  readonly batchesOfPlan: typeof batchesOfPlan;
  readonly listedSteps: typeof listedSteps;
}

/** Axes without the listed one, `list`: the first step lists its items, and steps after it have it in `each`. */
export interface ListedDocument {
  readonly document: AxesDocument;
  /** By step after the first one: the place of the axis in its `each`; -1: it does not have it. */
  readonly places: readonly number[];
  /** Steps whose inputs release the axis. */
  readonly released: readonly boolean[];
  /** How many items each cell of the first step lists, again and again; and which of them is known first. */
  readonly sizes: readonly number[];
  readonly first: number;
}

const AXIS = 'list';

export const randomListedAxes: fc.Arbitrary<ListedDocument> = fc.record({
  document: randomAxes,
  places: fc.array(fc.integer({ min: -1, max: 3 }), { minLength: 6, maxLength: 6 }),
  released: fc.array(
    fc.nat(5).map((n) => n === 0),
    { minLength: 6, maxLength: 6 },
  ),
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
  const describe = (sizeOf: (cell: number) => number) => {
    const items = listing.flatMap(({ keys }, cell) => {
      const implied = Object.entries(of).map(([axis, field]) => [field, keys.get(axis)!]);
      return Array.from({ length: sizeOf(cell) }, (_, item) => ({
        id: `c${cell}-i${item}`,
        ...Object.fromEntries(implied),
      }));
    });
    return describeKnown({ axes: { ...document.axes, [AXIS]: { items, key: '${{ item.id }}', of } }, steps });
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

function addAxis({ document: { steps }, places, released }: ListedDocument): AxesDocument['steps'] {
  const added = Object.entries(steps).map(([name, step], index) => {
    const { each = [], inputs = {} } = step;
    const place = places[index]!;
    const all = released[index]
      ? Object.fromEntries(
          Object.entries(inputs).map(([input, one]) => [input, { ...one, all: [...(one.all ?? []), AXIS] }]),
        )
      : inputs;
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

function describeKnown(document: AxesDocument): readonly string[] {
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
    const match = naive.match(reader, source, rules);
    const meant = naive.cellsOf(reader).map(
      ({ keys }, index) =>
        `${idOf(keys)} [${match.cells[index]!.map((name) => ids.get(name)!)
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

function describeKeys(keys: readonly (readonly [axis: string, key: string])[]): string {
  return keys
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
  const count = plan.steps[0]!.cells!.length;
  for (let turn = 0; turn < count; turn++) {
    const cell = (turn + first) % count;
    for (const { steps: over, batchesOf } of subject.listedSteps(plan).get(0) ?? [])
      for (const step of over)
        for (const batch of batchesOf(step, cell)) batches[step]!.expand(batch, sizes[cell % sizes.length]!);
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
      const found = subject.matchedCells(match, cell, { reader: batches[planned.index], source: batches[on] });
      return `${idOf(planned.index, cell)} [${found
        .map((one) => idOf(on, one))
        .sort()
        .join(' ')}]`;
    });
    return describeEdge(`${reader}.${input} from ${source}`, match.isSingle, meant);
  });
  return [...cells, ...edges];
}
