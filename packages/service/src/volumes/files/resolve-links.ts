import { lstatSync } from 'node:fs';
import { ConfinementError } from './file-errors.ts';
import { holdBelow, holdExactly, linkTargetAt, release, within } from './held-directory.ts';
import { joinVolumePath } from './volume-path.ts';

/** More links than this on one path count as a cycle, as in the kernel. */
const MAX_LINKS = 40;

/**
 * Resolves all links in `path` beneath the directory `root`, by walking from one held directory to the next. The result is
 * preliminary: the caller must open it with `holdExactly`, which detects later changes. Throws `ConfinementError` if the
 * path leaves `root`, or contains any link with `reject`, and errors of `node:fs`.
 */
export function resolveLinks(root: string, path: string, links: 'follow' | 'reject'): string {
  const ahead = path === '' ? [] : path.split('/').reverse();
  const names: string[] = [];
  let met = 0;
  while (ahead.length > 0) {
    const name = ahead.pop() as string;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (names.pop() === undefined)
        throw new ConfinementError(`could not open '${path}': a symlink leaves the volume`);
      continue;
    }
    const target = linkTarget(root, { names, name, last: ahead.length === 0 });
    if (target === undefined) {
      names.push(name);
      continue;
    }
    met += 1;
    if (links === 'reject' || target.startsWith('/') || met > MAX_LINKS) {
      throw new ConfinementError(`could not open '${path}': '${joinVolumePath(names.join('/'), name)}' is a symlink`);
    }
    ahead.push(...target.split('/').reverse());
  }
  return names.join('/');
}

/** Undefined if `name` is not a link. Throws `ENOENT` and `ENOTDIR` like path resolution in the kernel. */
function linkTarget(
  root: string,
  { names, name, last }: { names: readonly string[]; name: string; last: boolean },
): string | undefined {
  const directory = holdExactly([root, ...names].join('/'));
  if (directory === undefined)
    throw new ConfinementError(`could not open '${names.join('/')}': it changed while it was opened`);
  try {
    const stats = lstatSync(within(directory, name));
    if (stats.isSymbolicLink()) return linkTargetAt(within(directory, name));
    if (!last) release(holdBelow(directory, name));
    return undefined;
  } finally {
    release(directory);
  }
}

/** Whether a relative target leaves the root at any point, when resolved `depth` directories below it. */
export function climbs(target: string, depth: number): boolean {
  let level = depth;
  for (const segment of target.split('/')) {
    if (segment === '..') level -= 1;
    else if (segment !== '' && segment !== '.') level += 1;
    if (level < 0) return true;
  }
  return false;
}
