import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bytesToName, nameOnDisk } from '@sluice/client';
import { isSystemError } from '@sluice/host-system';
import { ConfinementError, errno, isAbsence } from './file-errors.ts';
import { type HeldDirectory, holdExactly, holdNode, linkTargetAt, namesIn, release, within } from './held-directory.ts';
import { inheritOwner } from './inherit-owner.ts';
import { climbs, resolveLinks } from './resolve-links.ts';
import { joinVolumePath, splitVolumePath } from './volume-path.ts';

/** Entries looked at before other work gets its turn. */
const LIST_BATCH = 500;

/** Names that begin so are half-written files: never listed, never served. */
export const TEMPORARY_PREFIX = '.sluice-tmp-';

/** An entry of a directory; `list` says of a link what it leads to, `scan` that it is one. */
export interface TreeEntry {
  readonly name: string;
  readonly stats: Stats;
  /** The target of a link, as it is written there. Only of `list`. */
  readonly link?: string;
}

/**
 * The files beneath one directory, and nothing else, whatever symlinks others put there and swap meanwhile.
 *
 * Policy: a symlink with a relative target that stays inside is followed; an absolute one, or one that climbs out even
 * in part of its way, is refused with `ELOOP` (`stat` and `list`: not there). Operations on the last segment as such
 * (rename, unlink) touch the link itself. How: each directory on a way is held by a descriptor that was checked after
 * it was opened, and everything is done through it. Short metadata calls are synchronous: they cost microseconds, a
 * trip through the thread pool costs a hundred. Paths must have passed `checkVolumePath`. Throws errors of `node:fs`.
 */
export class ConfinedTree {
  /** Absolute, without symlinks. */
  readonly root: string;

  constructor(realRoot: string) {
    this.root = realRoot;
  }

  /** Runs `use` with the held directory `path`, following links inside the volume unless `links` is `refuse`. */
  inDirectory<T>(path: string, use: (directory: HeldDirectory) => T, links: 'follow' | 'refuse' = 'follow'): T {
    const directory = this.hold(path, links);
    try {
      return use(directory);
    } finally {
      release(directory);
    }
  }

  /** The caller releases it. */
  hold(path: string, links: 'follow' | 'refuse' = 'follow'): HeldDirectory {
    let failure: unknown;
    try {
      const direct = holdExactly(this.#absolute(path));
      if (direct !== undefined) return direct;
    } catch (error) {
      // Also ENOENT may be the answer of a place outside the volume, which a link led to: it must not be told.
      failure = error;
    }
    const real = resolveLinks(this.root, path, links);
    if (real === path && failure !== undefined) throw failure;
    const resolved = holdExactly(this.#absolute(real));
    if (resolved === undefined) throw new ConfinementError(`cannot open '${path}': it changed while it was opened`);
    return resolved;
  }

  /** What is at `path`, links followed; undefined where nothing is, or nothing of this volume. */
  stat(path: string): Stats | undefined {
    try {
      const stats = this.lstat(path);
      return stats?.isSymbolicLink() ? this.lstat(resolveLinks(this.root, path, 'follow')) : stats;
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  /** What is at `path` itself; undefined where nothing is. */
  lstat(path: string): Stats | undefined {
    if (path === '') return this.inDirectory('', (root) => fstatSync(root));
    const { parent, name } = splitVolumePath(path);
    try {
      return this.inDirectory(parent, (directory) => lstatSync(within(directory, name), { throwIfNoEntry: false }));
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  /**
   * The entries of a directory, sorted by name, half-written files left away. Links are shown as what they lead to; where
   * that is outside or nothing, they are left away, or with `links` shown as links. Each is looked at when it is asked
   * for: of 100,000 the names take a tenth of the memory of all that is to be said of them, and whoever asks may be slow.
   */
  list(path: string, links: 'reachable' | 'all' = 'reachable'): AsyncGenerator<TreeEntry> {
    const names = this.inDirectory(path, (directory) => namesIn(directory).sort());
    return this.#lookAt(path, names, links === 'all');
  }

  async *#lookAt(path: string, names: readonly string[], allLinks: boolean): AsyncGenerator<TreeEntry> {
    const directory = this.hold(path);
    try {
      for (const [index, name] of names.entries()) {
        if (index % LIST_BATCH === LIST_BATCH - 1) await nextTurn();
        const stats = statIn(directory, name);
        if (stats?.isSymbolicLink()) {
          const reached = this.stat(joinVolumePath(path, name)) ?? (allLinks ? stats : undefined);
          if (reached) yield { name, stats: reached, link: linkTargetAt(within(directory, name)) };
        } else if (stats?.isFile() || stats?.isDirectory()) yield { name, stats };
      }
    } finally {
      release(directory);
    }
  }

  /** The entries of a directory as they lie there, links as links, half-written files left away; it holds none of them. */
  async *scan(path: string): AsyncGenerator<TreeEntry> {
    const held = this.hold(path);
    try {
      const directory = opendirSync(`/proc/self/fd/${held}`, { encoding: 'buffer' as BufferEncoding });
      try {
        let count = 0;
        for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
          if (++count % LIST_BATCH === 0) await nextTurn();
          const name = bytesToName(entry.name as unknown as Buffer);
          const stats = statIn(held, name);
          if (stats?.isFile() || stats?.isDirectory() || stats?.isSymbolicLink()) yield { name, stats };
        }
      } finally {
        directory.closeSync();
      }
    } finally {
      release(held);
    }
  }

  /**
   * Opens a regular file; `flags` as of `open(2)`. The caller closes the descriptor. Follows a link at the end too,
   * where it stays inside. Anything but a regular file is `EISDIR` or `EINVAL`: a FIFO would block, a device would act.
   */
  openFile(path: string, flags: number, mode = 0o666): number {
    const { parent, name } = splitVolumePath(path);
    const opened = this.inDirectory(parent, (directory) => {
      const stats = lstatSync(within(directory, name), { throwIfNoEntry: false });
      if (stats?.isSymbolicLink()) return undefined;
      if (stats !== undefined) refuseUnlessFile(path, stats);
      const file = openSync(within(directory, name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode);
      if (stats === undefined) inheritOwner(directory, file);
      return file;
    });
    if (opened === undefined) {
      if ((flags & constants.O_EXCL) !== 0) throw errno('EEXIST', `cannot create '${path}': a symlink is there`);
      return this.openFile(resolveLinks(this.root, path, 'follow'), flags, mode);
    }
    try {
      refuseUnlessFile(path, fstatSync(opened));
    } catch (error) {
      closeSync(opened);
      throw error;
    }
    return opened;
  }

  /** Makes one directory; `EEXIST` where something is, `ENOENT` without the directory above. */
  makeDirectory(path: string, mode = 0o777): void {
    if (path === '') throw errno('EEXIST', 'cannot make the root of the volume: it is there');
    const { parent, name } = splitVolumePath(path);
    this.inDirectory(parent, (directory) => makeIn(directory, name, mode));
  }

  /** Makes a directory and those above it, where they are not. `ENOTDIR` where a file is in the way. */
  makeDirectories(path: string, links: 'follow' | 'refuse' = 'follow'): void {
    if (this.#isDirectory(path, links)) return;
    const { parent, name } = splitVolumePath(path);
    this.makeDirectories(parent, links);
    try {
      this.inDirectory(parent, (directory) => makeIn(directory, name), links);
    } catch (error) {
      if (!isSystemError(error, 'EEXIST')) throw error;
      release(this.hold(path, links));
    }
  }

  /** As `rename(2)`: replaces a file or an empty directory at `to`. */
  rename(from: string, to: string): void {
    this.#refuseRoot(from, to);
    const source = splitVolumePath(from);
    const target = splitVolumePath(to);
    this.inDirectory(source.parent, (left) =>
      this.inDirectory(target.parent, (right) => renameSync(within(left, source.name), within(right, target.name))),
    );
  }

  /** As `rename`, and replaces nothing: `EEXIST` where `to` is something. Two callers cannot come between each other. */
  renameNew(from: string, to: string): void {
    this.#refuseRoot(from, to);
    const source = splitVolumePath(from);
    const target = splitVolumePath(to);
    this.inDirectory(source.parent, (left) => {
      lstatSync(within(left, source.name));
      this.inDirectory(target.parent, (right) => {
        if (lstatSync(within(right, target.name), { throwIfNoEntry: false }) !== undefined) {
          throw errno('EEXIST', `cannot rename '${from}' to '${to}': something is there`);
        }
        renameSync(within(left, source.name), within(right, target.name));
      });
    });
  }

  /** A second name for a file, `EEXIST` where `to` is something: the rename that replaces nothing is this and `unlink`. */
  link(from: string, to: string): void {
    this.#refuseRoot(from, to);
    const source = splitVolumePath(from);
    const target = splitVolumePath(to);
    this.inDirectory(source.parent, (left) =>
      this.inDirectory(target.parent, (right) => linkSync(within(left, source.name), within(right, target.name))),
    );
  }

  /** Removes a file, or a link as such. */
  unlink(path: string): void {
    this.#refuseRoot(path);
    const { parent, name } = splitVolumePath(path);
    this.inDirectory(parent, (directory) => unlinkSync(within(directory, name)));
  }

  /** Removes an empty directory. */
  removeDirectory(path: string): void {
    this.#refuseRoot(path);
    const { parent, name } = splitVolumePath(path);
    this.inDirectory(parent, (directory) => rmdirSync(within(directory, name)));
  }

  /** The target of the link `path`, as it is written there. */
  readLink(path: string): string {
    const { parent, name } = splitVolumePath(path);
    return this.inDirectory(parent, (directory) => linkTargetAt(within(directory, name)));
  }

  /** Makes a link; `ELOOP` where its target would not resolve inside the volume. The target need not be there. */
  symlink(target: string, path: string): void {
    this.#refuseRoot(path);
    const { parent, name } = splitVolumePath(path);
    this.#refuseOutwardTarget(target, parent);
    this.inDirectory(parent, (directory) => {
      symlinkSync(nameOnDisk(target), within(directory, name));
      inheritOwner(directory, name);
    });
  }

  /**
   * Runs `use` with a path that reaches the very file or directory at `path`, links inside the volume followed, for
   * calls that change its attributes. Neither read nor write permission is needed.
   */
  inNode<T>(path: string, use: (node: string) => T): T {
    const { parent, name } = splitVolumePath(path === '' ? '' : this.realPath(path));
    const node =
      name === '' ? this.hold('') : this.inDirectory(parent, (directory) => holdNode(directory, name), 'refuse');
    try {
      const stats = fstatSync(node);
      if (!stats.isDirectory()) refuseUnlessFile(path, stats);
      return use(`/proc/self/fd/${node}`);
    } finally {
      closeSync(node);
    }
  }

  /** `path` with every link on the way and at its end replaced by where it leads; all of it inside the volume. */
  realPath(path: string): string {
    return resolveLinks(this.root, path, 'follow');
  }

  #absolute(path: string): string {
    return path === '' ? this.root : `${this.root}/${path}`;
  }

  /** False only where nothing is, as far as one look tells; the walk upwards then meets any link on the way. */
  #isDirectory(path: string, links: 'follow' | 'refuse'): boolean {
    try {
      const direct = holdExactly(this.#absolute(path));
      release(direct ?? this.hold(path, links));
      return true;
    } catch (error) {
      if (path === '') throw error;
      if (isSystemError(error, 'ENOENT')) return false;
    }
    release(this.hold(path, links));
    return true;
  }

  #refuseRoot(...paths: string[]): void {
    if (paths.includes('')) throw errno('EBUSY', 'cannot rename or remove the root of the volume');
  }

  #refuseOutwardTarget(target: string, parent: string): void {
    const depth = parent === '' ? 0 : this.realPath(parent).split('/').length;
    if (target === '' || target.startsWith('/') || target.includes('\0') || climbs(target, depth)) {
      throw new ConfinementError(`cannot link to '${target}': it is not inside the volume`);
    }
  }
}

/** The tree beneath `root`, which must exist; links in the way to it are the operator's, and are resolved once. */
export function openConfinedTree(root: string): ConfinedTree {
  return new ConfinedTree(realpathSync(root));
}

/** Undefined for what is gone, and for what is half-written. */
function statIn(directory: HeldDirectory, name: string): Stats | undefined {
  if (name.startsWith(TEMPORARY_PREFIX)) return undefined;
  return lstatSync(within(directory, name), { throwIfNoEntry: false });
}

function makeIn(directory: HeldDirectory, name: string, mode = 0o777): void {
  mkdirSync(within(directory, name), mode);
  inheritOwner(directory, name);
}

function refuseUnlessFile(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw errno('EISDIR', `cannot open '${path}': it is a directory`);
  throw errno('EINVAL', `cannot open '${path}': it is not a regular file`);
}
