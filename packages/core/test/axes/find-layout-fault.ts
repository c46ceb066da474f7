import {
  type Cell,
  cellPath,
  groupPath,
  isMatched,
  matchedCells,
  matchOf,
  nameInDirectory,
  type Plan,
} from '../../src/index.ts';

/**
 * The first fault in where the outputs of cells are: each cell has a place and, in a directory that a step reads, a name of
 * its own; a directory that is mounted as a whole has exactly the cells that are meant.
 */
export function findLayoutFault(plan: Plan): string | undefined {
  for (const { step, index, cells = [] } of plan.steps) {
    const paths = cells.map((cell) => cellPath(plan, index, cell));
    if (new Set(paths).size < paths.length) return `two cells of ${step.name} have one path: ${paths.join(' ')}`;
  }
  for (const reader of plan.steps) {
    for (const dependency of reader.dependencies) {
      if (!isMatched(reader, plan.steps[dependency.on]!)) continue;
      const match = matchOf(plan, reader, dependency);
      if (match.isSingle) continue;
      for (const [at, { key }] of (reader.cells ?? []).entries()) {
        const isGroup = !match.isList && match.readStart[at + 1]! - match.readStart[at]! === 1;
        const shared = isGroup ? match.shared : [];
        const fault = findDirectoryFault(plan, dependency.on, { cells: matchedCells(match, at), shared, isGroup });
        if (fault !== undefined) return `${reader.step.name} ${key}, ${JSON.stringify(dependency)}: ${fault}`;
      }
    }
  }
  return undefined;
}

function findDirectoryFault(
  plan: Plan,
  step: number,
  { cells, shared, isGroup }: { cells: readonly number[]; shared: readonly string[]; isGroup: boolean },
): string | undefined {
  const all: readonly Cell[] = plan.steps[step]!.cells ?? [];
  const names = cells.map((cell) => nameInDirectory(plan, step, { cell: all[cell]!, shared }));
  if (new Set(names).size < names.length) return `two cells have one name: ${names.join(' ')}`;
  const group = isGroup ? groupPath(plan, step, { cell: all[cells[0]!]!, shared }) : undefined;
  if (group === undefined) return undefined;
  const below = group === '' ? '' : `${group}/`;
  const found = all.flatMap((cell, index) => (cellPath(plan, step, cell).startsWith(below) ? [index] : []));
  if (found.join() !== cells.join()) return `${group} has the cells ${found.join()} instead of ${cells.join()}`;
  const misnamed = cells.find((cell, index) => cellPath(plan, step, all[cell]!) !== below + names[index]!);
  return misnamed === undefined ? undefined : `${group} has no ${names[cells.indexOf(misnamed)]}`;
}
