import type { FileEntry } from '@sluice/client';

/** A file or link of a tree; its path in the volume differs from that in the comparison. */
export type TreeFile = Pick<FileEntry, 'path' | 'size' | 'link'>;

/** A file that two trees have, with the same size: only its content decides. */
export interface FilePair<T extends TreeFile = TreeFile> {
  readonly path: string;
  readonly here: T;
  readonly there: T;
}

/** What the lists of files of two trees say about their differences, in order of paths. */
export interface TreeComparison<T extends TreeFile = TreeFile> {
  readonly added: readonly { readonly path: string; readonly here: T }[];
  readonly removed: readonly { readonly path: string; readonly there: T }[];
  readonly changed: readonly FilePair<T>[];
  readonly undecided: readonly FilePair<T>[];
  /** The number of equal links. */
  readonly same: number;
}

/** Compares two trees, each by relative path. Reads nothing. */
export function compareTrees<T extends TreeFile>(
  here: ReadonlyMap<string, T>,
  there: ReadonlyMap<string, T>,
): TreeComparison<T> {
  const [added, removed]: [TreeComparison<T>['added'][number][], TreeComparison<T>['removed'][number][]] = [[], []];
  const [changed, undecided]: [FilePair<T>[], FilePair<T>[]] = [[], []];
  let same = 0;
  for (const path of [...new Set([...here.keys(), ...there.keys()])].sort()) {
    const [ours, others] = [here.get(path), there.get(path)];
    if (ours === undefined) removed.push({ path, there: others! });
    else if (others === undefined) added.push({ path, here: ours });
    else if (ours.link !== others.link || ours.size !== others.size) changed.push({ path, here: ours, there: others });
    else if (ours.link !== undefined) same += 1;
    else undecided.push({ path, here: ours, there: others });
  }
  return { added, removed, changed, undecided, same };
}
