import { fail, ok, orderDependencies, own, type Result } from '@sluice/core';
import {
  type CellIndex,
  cellsInOrder,
  type PartDifference,
  type PlaceDifference,
  type ReadInput,
  type ReadSource,
  type VolumePlace,
} from '@sluice/run';
import type { Clock } from '../../clock.ts';
import { placesBefore } from '../../reuse/lineage.ts';
import { createTurnDeadline } from '../../turn-deadline.ts';
import { type CellPair, type ComparableRun, findReadValues, type RunPair } from './comparable-run.ts';
import { describePart } from './describe-part.ts';
import { describeSkips, describeUnchanged } from './describe-unchanged.ts';

/** The volumes of an input whose contents differ. */
export interface ChangedSource {
  readonly before: VolumePlace;
  readonly after: VolumePlace;
  /** Of what is mounted. */
  readonly path: string;
}

/** Compares cells, and what they come from. */
export interface PlaceComparison {
  readonly places: readonly PlaceDifference[];
  /** The contents that differ, by the part that says so. */
  readonly sources: ReadonlyMap<PartDifference, ChangedSource>;
  /** The index of the place of a pair; undefined if there are too many. */
  compare(pair: CellPair): Promise<number | undefined>;
}

/** The cells of a step that a part comes from. */
interface CellsOf {
  readonly step: number;
  readonly cells: readonly number[];
}

/** In memory; far fewer are shown. */
const MAX_PLACES = 20_000;
const MAX_PARTS = 50;
/** The cells of one step that are compared to find the one that was changed. */
const MAX_SCANNED = 1_000;
/** Which part leads first: a change of its own, one further up, a repetition, and what is unknown. */
const RANK = { own: 0, changed: 1, repeated: 2, unknown: 3 } as const;

type Draft = { -readonly [K in keyof PlaceDifference]: PlaceDifference[K] };

/**
 * Compares cells of two runs with everything that they come from, each pair once. On a server, the runs that are executed
 * continue meanwhile.
 */
export function comparePlaces(runs: RunPair, clock: Clock): PlaceComparison {
  const hasPassed = createTurnDeadline(clock);
  const state: State = { runs, clock, hasPassed, places: [], known: new Map(), sources: new Map() };
  const { places, sources } = state;
  return { places, sources, compare: (pair) => compareCell(state, pair) };
}

/** What has been compared so far. */
interface State {
  readonly runs: RunPair;
  readonly clock: Clock;
  /** Whether the present turn of the event loop must end. */
  hasPassed: () => boolean;
  readonly places: Draft[];
  /** The places by what they compare. */
  readonly known: Map<string, number>;
  readonly sources: Map<PartDifference, ChangedSource>;
}

function namesOf({ before, after }: RunPair, { old, now }: CellPair): Result<readonly string[], string> {
  const [earlier, later] = [before.parts(old), after.parts(now)];
  if (!earlier.ok) return fail(`in run ${before.runId}, ${earlier.error}`);
  if (!later.ok) return fail(`in run ${after.runId}, ${later.error}`);
  const names = [...new Set([...earlier.value.keys(), ...later.value.keys()])].sort();
  return ok(names.filter((name) => earlier.value.get(name) !== later.value.get(name)));
}

/** Adds a place, unless it is known or there are too many. */
async function open(
  state: State,
  id: string,
  place: Omit<Draft, 'parts' | 'partCount'>,
): Promise<{ readonly index?: number; readonly draft?: Draft }> {
  const { known, places, clock } = state;
  const found = known.get(id);
  if (found !== undefined) return { index: found };
  if (places.length >= MAX_PLACES) return {};
  if (state.hasPassed()) {
    await new Promise<void>(clock.defer);
    state.hasPassed = createTurnDeadline(clock);
  }
  const draft: Draft = { ...place, parts: [], partCount: 0 };
  known.set(id, places.length);
  return { index: places.push(draft) - 1, draft };
}

function rankOf({ places }: State, { place }: PartDifference): number {
  return place === undefined ? RANK.own : RANK_OF[places[place]!.verdict];
}

/** First the parts that lead to what was changed. */
function setParts(state: State, draft: Draft, parts: readonly PartDifference[]): void {
  draft.parts = parts.toSorted((a, b) => rankOf(state, a) - rankOf(state, b)).slice(0, MAX_PARTS);
  draft.partCount = parts.length;
}

async function compareCell(state: State, pair: CellPair): Promise<number | undefined> {
  const { runs } = state;
  const { old, now } = pair;
  const [otherCell, cell] = [runs.before.keyOf(old), runs.after.keyOf(now)];
  const { index, draft } = await open(state, `${old.step}/${old.cell} ${now.step}/${now.cell}`, {
    ...{ step: runs.after.step(now.step).name, cell, cellIndex: now.cell },
    ...(otherCell !== cell && { otherCell }),
    ...{ verdict: 'unknown', message: '' },
  });
  if (index === undefined || draft === undefined) return index;
  const name = cellName(draft.step, cell);
  const skips = describeSkips(runs, pair);
  const names = namesOf(runs, pair);
  if (skips !== undefined) Object.assign(draft, { verdict: 'different', message: `${name} ${skips}` });
  else if (!names.ok) draft.message = `${name} cannot be compared: ${names.error}`;
  else if (names.value.length === 0) Object.assign(draft, describeUnchanged(runs, pair, name));
  else {
    const parts: PartDifference[] = [];
    for (const part of names.value) parts.push(...(await comparePart(state, part, pair)));
    setParts(state, draft, parts);
    const isRepeated = parts.every((part) => rankOf(state, part) === RANK.repeated);
    draft.verdict = isRepeated ? 'repeated' : 'different';
    draft.message = isRepeated ? `${name} differs only in what was executed again` : `${name} differs`;
  }
  return index;
}

async function comparePart(state: State, name: string, pair: CellPair): Promise<PartDifference[]> {
  const { before, after } = state.runs;
  const { old, now } = pair;
  const [earlier, later] = [before.parts(old), after.parts(now)];
  const [was, is] = [earlier.ok ? earlier.value.get(name) : undefined, later.ok ? later.value.get(name) : undefined];
  const input = /^inputs\.([^.]+)$/.exec(name)?.[1];
  if (input !== undefined) return [await compareInput(state, input, pair)];
  if (name.startsWith('after.')) return compareOrder(state, name, pair);
  const reads = findReadValues(state.runs, name, pair);
  const part = describePart(after.step(now.step), { name, before: was, after: is, reads });
  const from = reads?.find(({ name: [root, , kind] }) => root === 'steps' && kind === 'results')?.name[1];
  return [withPlace(part, from === undefined ? undefined : await compareStep(state, from, pair))];
}

function withPlace(part: PartDifference, place: number | undefined): PartDifference {
  return place === undefined ? part : { ...part, place };
}

async function compareInput(state: State, name: string, { old, now }: CellPair): Promise<PartDifference> {
  const { before, after } = state.runs;
  const [was, is] = [before.inputs(old).get(name), after.inputs(now).get(name)];
  const part = { kind: 'input', name: `inputs.${name}` } as const;
  if (was === undefined) return { ...part, message: `its input '${name}' is new: ${describeSource(is!)}` };
  if (is === undefined) return { ...part, message: `its input '${name}' was removed: ${describeSource(was)}` };
  const [wasFrom, isFrom] = [describeSource(was), describeSource(is)];
  const { from } = is.input;
  if (wasFrom !== isFrom)
    return { ...part, before: wasFrom, after: isFrom, message: `its input '${name}' was ${wasFrom}, is ${isFrom}` };
  if ('volume' in from) return compareVolume(state, name, from);
  const place = await compareCells(state, was.source!, is.source!);
  return withPlace({ ...part, message: `its input '${name}' differs` }, place);
}

function compareVolume(
  { runs: { before, after }, sources }: State,
  name: string,
  { volume, path }: { readonly volume: string; readonly path: string },
): PartDifference {
  const [was, is] = [own(before.source.facts.volumes, volume), own(after.source.facts.volumes, volume)];
  const message = `the content of volume ${describeVolume(volume, path)} in its input '${name}' differs`;
  const part: PartDifference = { kind: 'source', name: `inputs.${name}`, message };
  if (was?.digest !== undefined && is?.digest !== undefined) sources.set(part, { before: was, after: is, path });
  return part;
}

/** The steps before a cell that are in no input and no value. */
async function compareOrder(state: State, part: string, pair: CellPair): Promise<PartDifference[]> {
  const { before, after } = state.runs;
  const [was, is] = [stepsBefore(before, pair.old), stepsBefore(after, pair.now)];
  // More than twenty steps are one part.
  const isOne = part !== 'after.*';
  const names = isOne ? [part.slice('after.'.length)] : [...new Set([...was.keys(), ...is.keys()])];
  const parts: PartDifference[] = [];
  for (const name of names) {
    const order = { kind: 'order', name: `after.${name}` } as const;
    const [old, now] = [was.get(name), is.get(name)];
    if (old === undefined) parts.push({ ...order, message: `${name} now comes before it` });
    else if (now === undefined) parts.push({ ...order, message: `${name} no longer comes before it` });
    else if (isOne || before.lineage(old.step).digest !== after.lineage(now.step).digest) {
      const message = `${name}, which comes before it, differs`;
      parts.push(withPlace({ ...order, message }, await compareCells(state, old, now)));
    }
  }
  return parts;
}

/** The step whose result an expression reads. */
async function compareStep(state: State, name: string, pair: CellPair): Promise<number | undefined> {
  const was = stepsBefore(state.runs.before, pair.old, name).get(name);
  const is = stepsBefore(state.runs.after, pair.now, name).get(name);
  return was && is && compareCells(state, was, is);
}

async function compareCells(state: State, old: CellsOf, now: CellsOf): Promise<number | undefined> {
  const { runs, places } = state;
  if (old.cells.length === 1 && now.cells.length === 1)
    return compareCell(state, {
      old: { step: old.step, cell: old.cells[0]! },
      now: { step: now.step, cell: now.cells[0]! },
    });
  const step = runs.after.step(now.step).name;
  const { index, draft } = await open(state, `${idOf(runs.before, old)} ${idOf(runs.after, now)}`, {
    ...{ step, verdict: 'different', message: '' },
  });
  if (index === undefined || draft === undefined) return index;
  const { added, removed, differing } = matchByKey(runs, old, now);
  let first: number | undefined;
  let changed = 0;
  for (const pair of differing.slice(0, MAX_SCANNED)) {
    const place = await compareCell(state, pair);
    if (place === undefined) continue;
    const isChanged = places[place]!.verdict !== 'repeated';
    if (first === undefined || (isChanged && changed === 0)) first = place;
    if (isChanged) changed++;
  }
  const total = now.cells.length;
  const counts = describeCounts(step, { changed, added, removed, repeated: differing.length - changed, total });
  draft.message = counts.length === 0 ? `the cells of ${step} are in another order` : counts.join('; ');
  const isRepeated = changed + added + removed === 0 && differing.length > 0;
  if (isRepeated) draft.verdict = 'repeated';
  // New and removed cells are a cause of their own.
  if (first !== undefined && (isRepeated || changed > 0))
    setParts(state, draft, [{ kind: 'cells', name: 'cells', message: 'the first of them', place: first }]);
  return index;
}

/** Thousands of cells may read all cells of one step. */
function idOf({ source }: ComparableRun, { step, cells }: CellsOf): string {
  return `${step}:${cells.length === source.facts.cells[step]?.length ? 'all' : cells}`;
}

function describeCounts(
  step: string,
  counts: Readonly<Record<'changed' | 'added' | 'removed' | 'repeated' | 'total', number>>,
): string[] {
  const { changed, added, removed, repeated, total } = counts;
  const tell = (count: number, [one, many]: readonly [string, string]) =>
    count === 0 ? [] : [`${count} of the ${total} cells of ${step} ${count === 1 ? one : many}`];
  return [
    ...tell(changed, ['differs', 'differ']),
    ...tell(added, ['is new', 'are new']),
    ...(removed === 0 ? [] : [`${removed} of the cells of ${step} ${removed === 1 ? 'was' : 'were'} removed`]),
    ...(changed + added + removed === 0 ? tell(repeated, ['was executed again', 'were executed again']) : []),
  ];
}

const RANK_OF: Readonly<Record<PlaceDifference['verdict'], number>> = {
  ...{ different: RANK.changed, added: RANK.changed, removed: RANK.changed },
  ...{ repeated: RANK.repeated, same: RANK.repeated, unknown: RANK.unknown },
};

/** `STEP` or `STEP/CELL`. */
export function cellName(step: string, cell: string): string {
  return cell === '' ? step : `${step}/${cell}`;
}

/** What the cells of both runs have in common, by their names. */
function matchByKey(runs: RunPair, old: CellsOf, now: CellsOf) {
  const { before, after } = runs;
  const byKey = new Map(old.cells.map((cell) => [before.keyOf({ step: old.step, cell }), { step: old.step, cell }]));
  const pairs = now.cells.flatMap((cell): CellPair[] => {
    const other = byKey.get(after.keyOf({ step: now.step, cell }));
    return other === undefined ? [] : [{ old: other, now: { step: now.step, cell } }];
  });
  return {
    added: now.cells.length - pairs.length,
    removed: old.cells.length - pairs.length,
    differing: pairs.filter((pair) => before.identity(pair.old) !== after.identity(pair.now)),
  };
}

/** The steps before a cell by name, with the cells that it means: those that are in no input and no value, or the named one. */
function stepsBefore(run: ComparableRun, at: CellIndex, name?: string): ReadonlyMap<string, CellsOf> {
  const { plan, facts } = run.source;
  const order = new Set(orderDependencies(plan.steps[at.step]!, plan).map(({ index }) => index));
  const found = new Map<string, { step: number; cells: number[] }>();
  for (const { step, cell } of placesBefore({ plan, facts }, at.step, at.cell)) {
    const of = run.step(step).name;
    if (name === undefined ? !order.has(step) : of !== name) continue;
    const cells = cell === undefined ? [...cellsInOrder(facts, step)] : [...(found.get(of)?.cells ?? []), cell];
    found.set(of, { step, cells });
  }
  return found;
}

function describeSource({ input: { from }, source }: ReadInput): string {
  if ('volume' in from) return `volume ${describeVolume(from.volume, from.path)}`;
  return `${from.step}.${from.output}${describePath(source)}`;
}

function describePath(source: ReadSource | undefined): string {
  return source?.path === undefined ? '' : `/${source.path}`;
}

function describeVolume(volume: string, path: string): string {
  return path === '' ? volume : `${volume}/${path}`;
}
