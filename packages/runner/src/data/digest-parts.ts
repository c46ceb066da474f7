import { createHash } from 'node:crypto';
import { nameToBytes } from '@sluice/client';
import { type Plan, resolveInputs } from '@sluice/core';
import type { ScannedSource } from '../trees/scan-source.ts';

/**
 * The digests of the files and directories of a source that inputs name, by path. Left out are those that do not exist, and
 * those with links or behind links, whose content may be elsewhere in the source.
 */
export function digestParts(
  plan: Plan,
  { volume, scanned }: { readonly volume: string; readonly scanned: ScannedSource },
): Readonly<Record<string, string>> {
  const parts = [...listPaths(plan, volume)].flatMap((path) => {
    const digest = digestPart(scanned, path);
    return digest === undefined ? [] : [[path, digest] as const];
  });
  return Object.fromEntries(parts);
}

/** The paths in a volume that the inputs of all known cells name. */
function listPaths(plan: Plan, volume: string): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const { index, step, cells } of plan.steps) {
    const isRead = Object.values(step.inputs).some(
      ({ from }) => 'volume' in from && from.volume === volume && from.path !== '',
    );
    if (!isRead) continue;
    const isSame = step.each === undefined;
    for (const cell of isSame ? [{ key: '', matrix: {} }] : (cells ?? [])) {
      const inputs = resolveInputs(plan, index, cell);
      for (const { from } of inputs.ok ? inputs.value : []) {
        if ('volume' in from && from.volume === volume && from.path !== '') paths.add(from.path);
      }
    }
  }
  return paths;
}

function digestPart({ files, links, emptyDirectories }: ScannedSource, path: string): string | undefined {
  const below = `${path}/`;
  if (links.some((link) => link.path === path || link.path.startsWith(below) || path.startsWith(`${link.path}/`))) {
    return undefined;
  }
  const hash = createHash('sha256');
  let count = 0;
  const add = (...fields: string[]): void => {
    hash.update(nameToBytes(`${fields.join('\0')}\n`));
    count++;
  };
  const itself = files[lowerBound(files, path)];
  if (itself?.path === path) add('', itself.executable ? 'x' : '-', itself.sha256);
  for (let at = lowerBound(files, below); files[at]?.path.startsWith(below); at++) {
    const file = files[at]!;
    add(file.path.slice(path.length), file.executable ? 'x' : '-', file.sha256);
  }
  for (const directory of emptyDirectories) {
    if (directory === path || directory.startsWith(below)) add(directory.slice(path.length), 'd');
  }
  return count === 0 ? undefined : hash.digest('hex').slice(0, 40);
}

/** The index of the first of the sorted files whose path is not before `path`. */
function lowerBound(files: ScannedSource['files'], path: string): number {
  let [low, high] = [0, files.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (files[middle]!.path < path) low = middle + 1;
    else high = middle;
  }
  return low;
}
