import { posix } from 'node:path';

interface Mount {
  /** Device and, within it, the directory that is mounted. */
  readonly device: string;
  readonly root: string;
  readonly point: string;
}

/**
 * The other paths of a directory, which the mounts in the text of a `mountinfo` give to it or to parts of it: a disk that is
 * mounted twice, and bind mounts. `path` has no links.
 */
export function findAliases(path: string, mountinfo: string): string[] {
  const mounts = mountinfo.split('\n').flatMap(readMount);
  // Of mounts at one point, the last one is visible.
  const holder = mounts.filter(({ point }) => isBeneath(path, point)).reduce(deeper, undefined);
  if (holder === undefined) return [];
  const inside = posix.join(holder.root, posix.relative(holder.point, path));
  const aliases = mounts
    .filter((mount) => mount !== holder && mount.device === holder.device)
    .flatMap(({ root, point }) => {
      if (isBeneath(inside, root)) return [posix.join(point, posix.relative(root, inside))];
      return isBeneath(root, inside) ? [point] : [];
    });
  return [...new Set(aliases)].filter((alias) => !isBeneath(alias, path));
}

function deeper(best: Mount | undefined, mount: Mount): Mount {
  return best === undefined || mount.point.length >= best.point.length ? mount : best;
}

/** `<id> <parent> <device> <root> <mount point> …`, with blanks and backslashes in octal. */
function readMount(line: string): Mount[] {
  const [, , device, root, point] = line.split(' ');
  if (device === undefined || root === undefined || point === undefined) return [];
  return [{ device, root: readOctal(root), point: readOctal(point) }];
}

function readOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function isBeneath(path: string, above: string): boolean {
  return above === '/' || path === above || path.startsWith(`${above}/`);
}
