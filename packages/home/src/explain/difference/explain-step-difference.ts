import { ok, type Result } from '@sluice/core';
import type { DifferenceGroup, PlaceDifference, ReplayedRun, RunError, StepDifference } from '@sluice/run';
import { type Clock, createSystemClock } from '../../clock.ts';
import { createComparableRun, type RunPair } from './comparable-run.ts';
import { cellName, comparePlaces, type PlaceComparison } from './compare-places.ts';
import { compareSources, type SourceLister } from './compare-sources.ts';
import { renderPath } from './render-path.ts';
import { type SelectedCells, selectCells } from './select-cells.ts';
import { selectPlaces } from './select-places.ts';

/** A step or a cell of a run, and the run with which it is compared. */
export interface StepDifferenceOptions {
  readonly run: ReplayedRun;
  /** `STEP` or `STEP/CELL`. */
  readonly step: string;
  readonly other: ReplayedRun;
  /** `STEP` or `STEP/CELL` of the other run. Default: the same. */
  readonly otherStep?: string;
  /** Absent: files of sources are not compared. */
  readonly listFiles?: SourceLister;
  readonly clock?: Clock;
}

const MAX_CELLS = 10_000;
const MAX_GROUPS = 20;
const MAX_NAMES = 20;

/** Cells with the same answer. */
interface Group {
  readonly verdict: DifferenceGroup['verdict'];
  cellCount: number;
  readonly cells: string[];
  /** The index of that of the first cell, if both runs have it. */
  readonly place?: number;
  /** Otherwise: about all of them. */
  readonly message?: string;
}

/**
 * Why a step or a cell differs from that of another run, up to the first cause: from the records of both runs alone, except
 * for the files of sources. The error says that the run does not have the cell.
 */
export async function explainStepDifference(options: StepDifferenceOptions): Promise<Result<StepDifference, RunError>> {
  const { run, other, clock = createSystemClock() } = options;
  const selected = selectCells(options);
  if (!selected.ok) return selected;
  const { name, otherName, cell, pairs, added, removed } = selected.value;
  const runs = { before: createComparableRun(other), after: createComparableRun(run) };
  const comparison = comparePlaces(runs, clock);
  const found = await groupCells(runs, selected.value, comparison);
  const { groups, places } = await describeGroups(found.slice(0, MAX_GROUPS), { comparison, options });
  const cellCount = pairs.length + added.length + removed.length;
  return ok({
    ...{ runId: run.runId, otherRunId: other.runId, step: name },
    ...(cell !== undefined && { cell }),
    ...(otherName !== name && { otherStep: otherName }),
    message: summarize(groups, { selected: selected.value, otherRunId: other.runId }),
    cellCount,
    comparedCount: Math.min(pairs.length, MAX_CELLS) + added.length + removed.length,
    groups,
    groupCount: found.length,
    places,
  });
}

/** The cells by what differs. */
async function groupCells(
  runs: RunPair,
  selected: SelectedCells,
  { places, compare }: PlaceComparison,
): Promise<readonly Group[]> {
  const { step, otherStep, pairs, added, removed, absence } = selected;
  const groups = new Map<string, Group>();
  const add = (key: string, cell: string, group: Omit<Group, 'cellCount' | 'cells'>) => {
    const known = groups.get(key) ?? { ...group, cellCount: 0, cells: [] };
    groups.set(key, known);
    known.cellCount++;
    if (known.cells.length < MAX_NAMES) known.cells.push(cell);
  };
  for (const { old, now } of pairs.slice(0, MAX_CELLS)) {
    const place = await compare({ old: { step: otherStep, cell: old }, now: { step, cell: now } });
    if (place === undefined) continue;
    const { verdict, cell = '' } = places[place]!;
    add(keyOf(places[place]!), cell, { verdict, place });
  }
  const only = (verdict: 'added' | 'removed', runId: string) => ({
    verdict,
    message: absence ?? `only run ${runId} has these cells`,
  });
  for (const cell of added) add('added', runs.after.keyOf({ step, cell }), only('added', runs.after.runId));
  for (const cell of removed)
    add('removed', runs.before.keyOf({ step: otherStep, cell }), only('removed', runs.before.runId));
  return [...groups.values()].sort((a, b) => ORDER[a.verdict] - ORDER[b.verdict] || b.cellCount - a.cellCount);
}

const ORDER: Readonly<Record<Group['verdict'], number>> = {
  ...{ different: 0, added: 1, removed: 2, unknown: 3, repeated: 4, same: 5 },
};

/** Cells with the same key have the same answer. */
function keyOf({ step, cell = '', verdict, message, parts }: PlaceDifference): string {
  const names = parts.map(({ name }) => name);
  return JSON.stringify([verdict, message.replace(cellName(step, cell), ''), names.sort()]);
}

/** The groups, and the places that are shown with them. */
async function describeGroups(
  found: readonly Group[],
  { comparison, options }: { readonly comparison: PlaceComparison; readonly options: StepDifferenceOptions },
): Promise<Pick<StepDifference, 'groups' | 'places'>> {
  const shown = selectPlaces(
    comparison.places,
    found.flatMap(({ place }) => place ?? []),
  );
  const files = await compareSources(
    options,
    comparison.sources,
    shown.places.flatMap(({ parts }) => parts),
  );
  const places = shown.places.map(({ parts, ...place }) => ({
    ...place,
    parts: parts.map((part) => shown.move(files.get(part) ?? part)),
  }));
  const groups = found.map(({ message = '', place: first, ...group }): DifferenceGroup => {
    const { place } = shown.move({ place: first });
    if (place === undefined) return { ...group, message };
    return { ...group, message: renderPath(places, place, `run ${options.other.runId}`), place };
  });
  return { groups, places };
}

function summarize(
  groups: readonly DifferenceGroup[],
  { selected, otherRunId }: { readonly selected: SelectedCells; readonly otherRunId: string },
): string {
  const { name, cell, pairs, added, removed, absence } = selected;
  const [first] = groups;
  if (first === undefined) return `${name} has no cell in either run`;
  const isOne = pairs.length + added.length + removed.length === 1;
  if (absence !== undefined) return `${cellName(name, cell ?? '')} cannot be compared: ${absence}`;
  if (isOne) return first.message;
  const counts = Object.entries(WORDS).flatMap(([verdict, [one, many]]) => {
    const count = groups.reduce((sum, group) => sum + (group.verdict === verdict ? group.cellCount : 0), 0);
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  const why = first.verdict === 'different' ? `; ${first.message}` : '';
  return `of the cells of ${name}, compared with run ${otherRunId}, ${counts.join(', ')}${why}`;
}

const WORDS: Readonly<Record<Group['verdict'], readonly [one: string, many: string]>> = {
  different: ['differs', 'differ'],
  added: ['is new', 'are new'],
  removed: ['was removed', 'were removed'],
  unknown: ['cannot be compared', 'cannot be compared'],
  repeated: ['did the same work again', 'did the same work again'],
  same: ['has the same result', 'have the same result'],
};
