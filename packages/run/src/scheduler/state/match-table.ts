import {
  type Batches,
  type BoundItem,
  boundEdges,
  type CellMatch,
  createBatches,
  forEachBound,
  groupsOf,
  isMatched,
  matchOf,
  type Plan,
  type PlannedDependency,
  type PlannedStep,
  placesInList,
  placesOf,
  plannedCell,
} from '@sluice/core';
import { isFailed } from '../model/state-code.ts';
import { resized } from './cell-table.ts';

/** An edge between the cells of two steps with `each`, and what its groups of cells have come to. */
export interface MatchEdge {
  readonly reader: number;
  readonly source: number;
  readonly dependency: PlannedDependency;
  readonly match: CellMatch;
  /** Resolved as soon as the cells run (or, of a service, are ready), without waiting for their ends. */
  readonly isEarly: boolean;
  /** The readers use a service, whose cell ends after them. */
  readonly isUse: boolean;
  /** By group: the cells for which readers wait, and the states in which cells have ended, as bits. */
  open: Int32Array;
  seen: Uint16Array;
  /** By group: its cells, and those that have failed. */
  size: Int32Array;
  failed: Int32Array;
  /** The cells that read group `g` are `readers[readerStart[g]]` up to `readers[readerStart[g + 1]]`. */
  readonly readerStart: Int32Array;
  readonly readers: Int32Array;
  /** If the cells agree on an item that a step lists: each group becomes one for each item. */
  readonly groups?: Batches;
  /** If `where` names items of a list: by cell of the reader their places, and by group the cells that read it. */
  readonly bound?: Map<number, BoundItem>;
  readonly boundReaders?: Map<number, number[]>;
  /** By cell of the reader that reads several groups: those that are open. */
  readonly boundOpen?: Map<number, number>;
}

/** The edges between cells, by the step that is read and by the step that reads. */
export interface MatchTable {
  readonly from: ReadonlyMap<number, readonly MatchEdge[]>;
  readonly into: ReadonlyMap<number, readonly MatchEdge[]>;
  /** The number of groups that a cell waits for. */
  openGroups(step: number, cell: number): number;
  /** How the cells have ended that a cell reads. */
  ends(edge: MatchEdge, cell: number): GroupEnds;
  /** The list of which a cell stood for the items has so many. */
  expand(step: number, batch: number, size: number): void;
  /** What `where` names in the lists of a cell is known. Called once for each list. */
  bind(listing: Pick<EndedCell, 'step' | 'cell'>, bound: readonly (readonly BoundItem[])[], then: Bound): void;
  /** Counts the end of a cell, once. Calls `resolved` for each cell that waited for its group, once for each edge. */
  countEnd(end: EndedCell, resolved: Resolved): void;
  /** Counts that a cell runs or, of a service, is ready: once, before its end. Calls `resolved` as for an end. */
  countRun(cell: Pick<EndedCell, 'step' | 'cell'>, resolved: Resolved): void;
}

/** The cells of several groups together. */
interface GroupEnds {
  /** How many have not ended. */
  readonly open: number;
  /** The states in which the others have ended, as bits. */
  readonly seen: number;
  readonly failed: number;
  readonly cells: number;
}

/** A cell that has ended. */
export interface EndedCell {
  readonly step: number;
  readonly cell: number;
  readonly state: number;
  /** It has run before or, of a service, has been ready. */
  readonly hasRun: boolean;
}

type Resolved = (step: number, cell: number) => void;

interface Bound {
  /** Called for each cell whose items are known. */
  named(edge: MatchEdge, reader: number): void;
  /** Called for each cell that reads none. */
  readonly resolved: Resolved;
}

/** Matches the cells of all steps with `each`. */
export function createMatchTable(plan: Plan, batches: readonly (Batches | undefined)[]): MatchTable {
  const from = new Map<number, MatchEdge[]>();
  const into = new Map<number, MatchEdge[]>();
  for (const reader of plan.steps) {
    if (reader.step.each === undefined) continue;
    for (const dependency of reader.dependencies) {
      if (!isMatched(reader, plan.steps[dependency.on]!)) continue;
      const edge = createEdge(plan, reader, dependency);
      from.set(edge.source, [...(from.get(edge.source) ?? []), edge]);
      into.set(edge.reader, [...(into.get(edge.reader) ?? []), edge]);
    }
  }
  return {
    from,
    into,
    openGroups(step, cell) {
      let open = 0;
      for (const { match } of into.get(step) ?? []) open += match.readStart[cell + 1]! - match.readStart[cell]!;
      return open;
    },
    ends: (edge, cell) => sumEnds(edge, cell, batches[edge.reader]),
    expand(step, batch, size) {
      for (const edge of from.get(step) ?? []) {
        const group = edge.match.groupOf[batch]!;
        if (group < 0) continue;
        expandGroup(edge, { group, size });
      }
    },
    bind: (listing, bound, then) => bindItems(plan, { into, batches }, { listing, bound, ...then }),
    countRun({ step, cell }, resolved) {
      // Services have no listed items.
      for (const edge of from.get(step) ?? []) {
        const planned = edge.match.groupOf[cell]!;
        if (edge.isEarly && planned >= 0) resolveOne(batches, edge, { planned, place: 0, resolved });
      }
    },
    countEnd({ step, cell, state, hasRun }, resolved) {
      const own = batches[step];
      const batch = plannedCell(own, cell);
      const place = own?.placeOf(cell) ?? 0;
      const isEmpty = own?.sizeOf(batch) === 0;
      for (const edge of from.get(step) ?? []) {
        const { match, seen, failed, groups, isEarly } = edge;
        const planned = match.groupOf[batch]!;
        if (planned < 0) continue;
        const group = groups === undefined ? planned : groups.memberAt(planned, place);
        if (!isEmpty) seen[group]! |= 1 << state;
        if (isFailed(state)) failed[group]!++;
        if (!(isEarly && hasRun)) resolveOne(batches, edge, { planned, place, resolved });
      }
    },
  };
}

function bindItems(
  plan: Plan,
  { into, batches }: Pick<MatchTable, 'into'> & { readonly batches: readonly (Batches | undefined)[] },
  given: Bound & {
    readonly listing: Pick<EndedCell, 'step' | 'cell'>;
    readonly bound: readonly (readonly BoundItem[])[];
  },
): void {
  const { step, cell: listing } = given.listing;
  for (const [at, one] of (boundEdges(plan).get(step) ?? []).entries()) {
    const edge = into.get(one.reader)!.find(({ dependency }) => dependency === one.dependency)!;
    const of = batches[edge.reader];
    forEachBound(one, { listing, batches: of, named: given.bound[at] ?? [] }, (cell, item) => {
      edge.bound!.set(cell, item);
      const read = groupsNamed(edge, plannedCell(of, cell), item);
      for (const group of read) addReader(edge, group, cell);
      if (read.length > 1) edge.boundOpen!.set(cell, read.length);
      given.named(edge, cell);
      if (read.length === 0) given.resolved(edge.reader, cell);
    });
  }
}

function addReader({ boundReaders }: MatchEdge, group: number, cell: number): void {
  const others = boundReaders!.get(group);
  if (others === undefined) boundReaders!.set(group, [cell]);
  else others.push(cell);
}

function groupsNamed({ match, groups }: MatchEdge, planned: number, item: BoundItem): readonly number[] {
  return [...groupsOf(match, planned)].flatMap((group) =>
    placesOf(item).map((place) => groups!.memberAt(group, place)),
  );
}

const ONLY = [0];

/** Of all groups that a cell reads; without an array of them, since this is done for each cell. */
function sumEnds(edge: MatchEdge, cell: number, own: Batches | undefined): GroupEnds {
  const { match, groups, bound } = edge;
  const planned = plannedCell(own, cell);
  const ends = { open: 0, seen: 0, failed: 0, cells: 0 };
  for (const place of groups === undefined ? ONLY : placesInList(cell, { reader: own, bound })) {
    for (let at = match.readStart[planned]!; at < match.readStart[planned + 1]!; at++) {
      const group = groups === undefined ? match.reads[at]! : groups.memberAt(match.reads[at]!, place);
      ends.open += edge.open[group]!;
      ends.seen |= edge.seen[group]!;
      ends.failed += edge.failed[group]!;
      ends.cells += edge.size[group]!;
    }
  }
  return ends;
}

/** A cell fewer of a group to wait for. */
function resolveOne(
  batches: readonly (Batches | undefined)[],
  edge: MatchEdge,
  { planned, place, resolved }: { planned: number; place: number; resolved: Resolved },
): void {
  const { reader, open, readerStart, readers, groups, boundReaders } = edge;
  const group = groups === undefined ? planned : groups.memberAt(planned, place);
  if (--open[group]! > 0) return;
  const of = batches[reader];
  if (boundReaders !== undefined && groups!.sizeOf(planned) !== undefined) {
    for (const cell of boundReaders.get(group) ?? []) if (closeGroup(edge, cell)) resolved(reader, cell);
    return;
  }
  for (let at = readerStart[planned]!; at < readerStart[planned + 1]!; at++) {
    if (of === undefined) resolved(reader, readers[at]!);
    else if (groups !== undefined && boundReaders === undefined) resolved(reader, of.memberAt(readers[at]!, place));
    else for (const member of of.members(readers[at]!)) resolved(reader, member);
  }
}

/** One group fewer of those that `where` names for a cell; whether it was the last. */
function closeGroup({ boundOpen }: MatchEdge, cell: number): boolean {
  const open = (boundOpen!.get(cell) ?? 1) - 1;
  if (open > 0) boundOpen!.set(cell, open);
  else boundOpen!.delete(cell);
  return open === 0;
}

function createEdge(plan: Plan, reader: PlannedStep, dependency: PlannedDependency): MatchEdge {
  const source = plan.steps[dependency.on]!;
  const match = matchOf(plan, reader, dependency);
  const { condition } = dependency;
  const isService = source.step.service !== undefined;
  const isWanted = condition === 'running' || (isService && condition === 'succeeded');
  const { groupCount, groupOf, readStart, reads } = match;
  const open = new Int32Array(groupCount);
  for (const group of groupOf) if (group >= 0) open[group]!++;
  const readerStart = new Int32Array(groupCount + 1);
  for (const group of reads) readerStart[group + 1]!++;
  for (let group = 0; group < groupCount; group++) readerStart[group + 1]! += readerStart[group]!;
  const readers = new Int32Array(reads.length);
  const next = readerStart.slice(0, groupCount);
  for (let cell = 0; cell + 1 < readStart.length; cell++) {
    for (let at = readStart[cell]!; at < readStart[cell + 1]!; at++) readers[next[reads[at]!]!++] = cell;
  }
  return {
    ...{ reader: reader.index, source: dependency.on, dependency, match },
    isEarly: isWanted || (isService && condition === 'skipped'),
    isUse: isWanted && isService && source.final === reader.final,
    ...{ open, seen: new Uint16Array(groupCount), size: open.slice(), failed: new Int32Array(groupCount) },
    ...{ readerStart, readers },
    ...(match.isByItem && { groups: createBatches(groupCount) }),
    ...(match.named && { bound: new Map(), boundReaders: new Map(), boundOpen: new Map() }),
  };
}

/** Its cells wait, since they depend on the list. */
function expandGroup(edge: MatchEdge, { group, size }: { group: number; size: number }): void {
  const { groups } = edge;
  if (groups === undefined) {
    edge.open[group]! += Math.max(0, size - 1);
    edge.size[group]! += size - 1;
    return;
  }
  if (groups.sizeOf(group) !== undefined) return;
  const { from, to } = groups.expand(group, size);
  if (to > edge.open.length) {
    const space = Math.max(to, 2 * edge.open.length);
    edge.open = resized(edge.open, new Int32Array(space));
    edge.seen = resized(edge.seen, new Uint16Array(space));
    edge.size = resized(edge.size, new Int32Array(space));
    edge.failed = resized(edge.failed, new Int32Array(space));
  }
  edge.open.fill(edge.open[group]!, from, to);
  edge.size.fill(edge.size[group]!, from, to);
}
