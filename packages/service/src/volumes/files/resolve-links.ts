import { lstatSync } from 'node:fs';
import { ConfinementError } from './file-errors.ts';
import { holdBelow, holdExactly, linkTargetAt, release, within } from './held-directory.ts';
import { joinVolumePath } from './volume-path.ts';

/** More links than this on one way are taken for a circle, as the kernel does. */
const MAX_LINKS = 40;

/**
 * `path` beneath the directory `root` with every link on the way and at its end replaced by where it leads. Walks down
 * segment by segment from one held directory to the next. What comes out is a proposal: whoever uses it opens it with
 * `holdExactly`, which would notice a change since. Throws `ConfinementError` where the way leaves `root`, or meets any
 * link with `refuse`, and errors of `node:fs`.
 */
export function resolveLinks(root: string, path: string, links: 'follow' | 'refuse'): string {
  const ahead = path === '' ? [] : path.split('/').reverse();
  const names: string[] = [];
  let met = 0;
  while (ahead.length > 0) {
    const name = ahead.pop() as string;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (names.pop() === undefined) throw new ConfinementError(`cannot open '${path}': a symlink leaves the volume`);
      continue;
    }
    const target = linkTarget(root, { names, name, last: ahead.length === 0 });
    if (target === undefined) {
      names.push(name);
      continue;
    }
    met += 1;
    if (links === 'refuse' || target.startsWith('/') || met > MAX_LINKS) {
      throw new ConfinementError(`cannot open '${path}': '${joinVolumePath(names.join('/'), name)}' is a symlink`);
    }
    ahead.push(...target.split('/').reverse());
  }
  return names.join('/');
}

/** Undefined where `name` is no link. Throws `ENOENT` and `ENOTDIR` as a walk through it would. */
function linkTarget(
  root: string,
  { names, name, last }: { names: readonly string[]; name: string; last: boolean },
): string | undefined {
  const directory = holdExactly([root, ...names].join('/'));
  if (directory === undefined) throw new ConfinementError(`cannot open '${names.join('/')}': it changed meanwhile`);
  try {
    const stats = lstatSync(within(directory, name));
    if (stats.isSymbolicLink()) return linkTargetAt(within(directory, name));
    if (!last) release(holdBelow(directory, name));
    return undefined;
  } finally {
    release(directory);
  }
}

/** Whether a relative target, read `depth` directories below the root, goes above the root on its way. */
export function climbs(target: string, depth: number): boolean {
  let level = depth;
  for (const segment of target.split('/')) {
    if (segment === '..') level -= 1;
    else if (segment !== '' && segment !== '.') level += 1;
    if (level < 0) return true;
  }
  return false;
}
