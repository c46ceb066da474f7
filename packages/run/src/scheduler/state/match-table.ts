import { type CellMatch, isMatched, matchOf, type Plan, type PlannedDependency } from '@sluice/core';
import { isFailed } from '../model/state-code.ts';

/** An edge between the cells of two steps with `each`, and what its groups of cells have come to. */
export interface MatchEdge {
  readonly reader: number;
  readonly source: number;
  readonly dependency: PlannedDependency;
  readonly match: CellMatch;
  /** By group: the cells that have not ended, and the states in which the others have, as bits. */
  readonly open: Int32Array;
  readonly seen: Uint16Array;
  /** By group: its cells, and those that have failed. */
  readonly size: Int32Array;
  readonly failed: Int32Array;
  /** The cells that read group `g` are `readers[readerStart[g]]` up to `readers[readerStart[g + 1]]`. */
  readonly readerStart: Int32Array;
  readonly readers: Int32Array;
}

/** The edges between cells, by the step that is read and by the step that reads. */
export interface MatchTable {
  readonly from: ReadonlyMap<number, readonly MatchEdge[]>;
  readonly into: ReadonlyMap<number, readonly MatchEdge[]>;
  /** The number of groups that a cell waits for. */
  openGroups(step: number, cell: number): number;
  /** Counts the end of a cell, once. Calls `resolved` for each cell that waited for its group, once for each edge. */
  countEnd(end: { step: number; cell: number; state: number }, resolved: (step: number, cell: number) => void): void;
}

/** Matches the cells of all steps with `each`. */
export function createMatchTable(plan: Plan): MatchTable {
  const from = new Map<number, MatchEdge[]>();
  const into = new Map<number, MatchEdge[]>();
  for (const reader of plan.steps) {
    if (reader.step.each === undefined) continue;
    for (const dependency of reader.dependencies) {
      if (!isMatched(reader, plan.steps[dependency.on]!)) continue;
      const edge = createEdge(reader.index, dependency, matchOf(plan, reader, dependency));
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
    countEnd({ step, cell, state }, resolved) {
      for (const { reader, match, open, seen, failed, readerStart, readers } of from.get(step) ?? []) {
        const group = match.groupOf[cell]!;
        if (group < 0) continue;
        seen[group]! |= 1 << state;
        if (isFailed(state)) failed[group]!++;
        if (--open[group]! > 0) continue;
        for (let at = readerStart[group]!; at < readerStart[group + 1]!; at++) resolved(reader, readers[at]!);
      }
    },
  };
}

function createEdge(reader: number, dependency: PlannedDependency, match: CellMatch): MatchEdge {
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
    ...{ reader, source: dependency.on, dependency, match },
    ...{ open, seen: new Uint16Array(groupCount), size: open.slice(), failed: new Int32Array(groupCount) },
    ...{ readerStart, readers },
  };
}
