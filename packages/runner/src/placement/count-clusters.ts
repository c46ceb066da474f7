import { type CellMatch, cellsOfGroup, groupsOf } from '@sluice/core';

/** How many cells are on which cluster, in the order of the first ones. */
export type ClusterCounts = ReadonlyMap<string, number>;

/** Counts the cells that a cell of the reader reads. What many cells read is counted once. */
export function createCounter(match: CellMatch, clusterOf: (cell: number) => string): (cell: number) => ClusterCounts {
  const known = new Map<number, ClusterCounts>();
  const countGroup = (group: number): ClusterCounts => {
    const counts = known.get(group) ?? countClusters(cellsOfGroup(match, group).map(clusterOf));
    known.set(group, counts);
    return counts;
  };
  return (cell) => {
    const [first, ...others] = [...groupsOf(match, cell)].map(countGroup);
    return others.length === 0 ? (first ?? NONE) : addCounts([first!, ...others]);
  };
}

const NONE: ClusterCounts = new Map();

/** Counts the clusters of a list. */
export function countClusters(clusters: readonly string[]): ClusterCounts {
  return addCounts(clusters.map((cluster) => [[cluster, 1]]));
}

function addCounts(all: readonly Iterable<readonly [string, number]>[]): ClusterCounts {
  const sum = new Map<string, number>();
  for (const counts of all) for (const [cluster, count] of counts) sum.set(cluster, (sum.get(cluster) ?? 0) + count);
  return sum;
}

/** The most frequent cluster, of several the first; undefined if there is none. */
export function mostOf(counts: ClusterCounts): string | undefined {
  const most = Math.max(...counts.values());
  return [...counts].find(([, count]) => count === most)?.[0];
}
