import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  opendirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { bytesToName, nameOnDisk } from '@sluice/client';
import { isSystemError } from '@sluice/host-system';
import { createStoragePacer, LOCAL_STORAGE, type StorageAccess } from '../../storage/storage-access.ts';
import { StorageSpace } from '../storage-space.ts';
import { ConfinementError, errno, isAbsence, rejectUnlessFile } from './file-errors.ts';
import { type HeldDirectory, holdExactly, holdNode, linkTargetAt, namesIn, release, within } from './held-directory.ts';
import { inheritOwner, makeIn } from './inherit-owner.ts';
import { climbs, resolveLinks } from './resolve-links.ts';
import type { TreeOptions } from './tree-options.ts';
import { joinVolumePath, splitVolumePath } from './volume-path.ts';

/** Prefix of the names of incomplete files: these are never listed or served. */
export const TEMPORARY_PREFIX = '.sluice-tmp-';

/** An entry of a directory. For a link, `stats` describe its target in `list`, and the link itself in `scan`. */
export interface TreeEntry {
  readonly name: string;
  readonly stats: Stats;
  /** The stored target of a link. Only from `list`. */
  readonly link?: string;
}

/**
 * Accesses the files beneath one directory and nothing outside, even while other processes create and replace symlinks
 * there. Policy: a symlink with a relative target that stays inside is followed. An absolute one, or one that leaves the
 * directory anywhere on its way, is rejected with `ELOOP` (`stat` and `list` treat it as missing). Operations on the last
 * segment itself (rename, unlink) affect the link. Method: each directory on a path is held by a descriptor that is checked
 * after opening, and all operations go through it. Short metadata calls are synchronous: they take microseconds, a round
 * trip through the thread pool a hundred times as long. The caller checks directly before them that the storage answers,
 * and moves data only through `storage`. Paths must have passed `checkVolumePath`. Throws errors of `node:fs`.
 */
export class ConfinedTree {
  /** Absolute, without symlinks. */
  readonly root: string;
  readonly space: StorageSpace;
  readonly storage: StorageAccess;

  constructor(realRoot: string, { space, storage }: TreeOptions) {
    this.root = realRoot;
    this.space = space ?? new StorageSpace();
    this.storage = storage ?? LOCAL_STORAGE;
  }

  /** Runs `use` with the held directory `path`. Follows links inside the volume unless `links` is `reject`. */
  inDirectory<T>(path: string, use: (directory: HeldDirectory) => T, links: 'follow' | 'reject' = 'follow'): T {
    const directory = this.hold(path, links);
    try {
      return use(directory);
    } finally {
      release(directory);
    }
  }

  /** Holds the directory `path`; the caller must release it. */
  hold(path: string, links: 'follow' | 'reject' = 'follow'): HeldDirectory {
    let failure: unknown;
    try {
      const direct = holdExactly(this.#absolute(path));
      if (direct !== undefined) return direct;
    } catch (error) {
      // Even ENOENT may reveal something about a place outside the volume that a link leads to.
      failure = error;
    }
    const real = resolveLinks(this.root, path, links);
    if (real === path && failure !== undefined) throw failure;
    const resolved = holdExactly(this.#absolute(real));
    if (resolved === undefined) throw new ConfinementError(`could not open '${path}': it changed while it was opened`);
    return resolved;
  }

  /** Follows links; undefined if nothing of this volume is at `path`. */
  stat(path: string): Stats | undefined {
    try {
      const stats = this.lstat(path);
      return stats?.isSymbolicLink() ? this.lstat(resolveLinks(this.root, path, 'follow')) : stats;
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  /** Does not follow a link at the end; undefined if nothing is at `path`. */
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
   * The entries of a directory, sorted by name, without incomplete files. Links are described by their targets. Links that
   * lead nowhere or outside are omitted, or described as links with `all`. Stats are read only when an entry is requested:
   * for 100,000 entries, the names take a tenth of the memory, and the consumer may be slow.
   */
  list(path: string, links: 'reachable' | 'all' = 'reachable'): AsyncGenerator<TreeEntry> {
    return this.#describeEntries(path, this.inDirectory(path, namesIn).sort(), links === 'all');
  }

  async *#describeEntries(path: string, names: readonly string[], allLinks: boolean): AsyncGenerator<TreeEntry> {
    const directory = this.hold(path);
    const pace = createStoragePacer(this.storage);
    try {
      for (const name of names) {
        await pace();
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

  /**
   * The entries of a directory in directory order, without incomplete files; links are described as links. Holds only the
   * current entry in memory.
   */
  async *scan(path: string): AsyncGenerator<TreeEntry> {
    const held = this.hold(path);
    const pace = createStoragePacer(this.storage);
    try {
      const directory = opendirSync(`/proc/self/fd/${held}`, { encoding: 'buffer' as BufferEncoding });
      try {
        for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
          const name = bytesToName(entry.name as unknown as Buffer);
          const stats = statIn(held, name);
          if (stats?.isFile() || stats?.isDirectory() || stats?.isSymbolicLink()) yield { name, stats };
          await pace();
        }
      } finally {
        directory.closeSync();
      }
    } finally {
      release(held);
    }
  }

  /**
   * Opens a regular file; `flags` as in `open(2)`. The caller closes the descriptor. Follows a link at the end if it stays
   * inside. Anything but a regular file fails with `EISDIR` or `EINVAL`, because opening a FIFO blocks and opening a device
   * can have effects.
   */
  openFile(path: string, flags: number, mode = 0o666): number {
    const { parent, name } = splitVolumePath(path);
    const opened = this.inDirectory(parent, (directory) => {
      const stats = lstatSync(within(directory, name), { throwIfNoEntry: false });
      if (stats?.isSymbolicLink()) return undefined;
      if (stats !== undefined) rejectUnlessFile(path, stats);
      const file = openSync(within(directory, name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode);
      if (stats === undefined) inheritOwner(directory, file);
      return file;
    });
    if (opened === undefined) {
      if ((flags & constants.O_EXCL) !== 0) throw errno('EEXIST', `could not create '${path}': it exists as a symlink`);
      return this.openFile(resolveLinks(this.root, path, 'follow'), flags, mode);
    }
    try {
      rejectUnlessFile(path, fstatSync(opened));
    } catch (error) {
      closeSync(opened);
      throw error;
    }
    return opened;
  }

  /** Creates one directory; `EEXIST` if something is there, `ENOENT` without a parent. */
  makeDirectory(path: string, mode = 0o777): void {
    if (path === '') throw errno('EEXIST', 'cannot create the root of the volume: it already exists');
    const { parent, name } = splitVolumePath(path);
    this.inDirectory(parent, (directory) => makeIn(directory, name, mode));
  }

  /** Creates a directory and its missing parents. `ENOTDIR` if a file is in the way. */
  makeDirectories(path: string, links: 'follow' | 'reject' = 'follow'): void {
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

  /** Like `rename(2)`: replaces a file or an empty directory at `to`. */
  rename(from: string, to: string): void {
    this.#rejectRoot(from, to);
    const source = splitVolumePath(from);
    const target = splitVolumePath(to);
    this.inDirectory(source.parent, (left) =>
      this.inDirectory(target.parent, (right) => {
        const replaced = lstatSync(within(right, target.name), { throwIfNoEntry: false });
        const moved = lstatSync(within(left, source.name));
        this.space.touched(moved);
        renameSync(within(left, source.name), within(right, target.name));
        if (replaced !== undefined && replaced.ino !== moved.ino) this.space.removed(replaced);
      }),
    );
  }

  /** Like `rename`, but fails with `EEXIST` if `to` exists. Atomic with respect to other operations of this process. */
  renameNew(from: string, to: string): void {
    this.#rejectRoot(from, to);
    const source = splitVolumePath(from);
    const target = splitVolumePath(to);
    this.inDirectory(source.parent, (left) => {
      const moved = lstatSync(within(left, source.name));
      this.inDirectory(target.parent, (right) => {
        if (lstatSync(within(right, target.name), { throwIfNoEntry: false }) !== undefined) {
          throw errno('EEXIST', `could not rename '${from}' to '${to}': it already exists`);
        }
        this.space.touched(moved);
        renameSync(within(left, source.name), within(right, target.name));
      });
    });
  }

  /** Creates a hard link; `EEXIST` if `to` exists. */
  link(from: string, to: string): void {
    this.#rejectRoot(from, to);
    const source = splitVolumePath(from);
    const target = splitVolumePath(to);
    this.inDirectory(source.parent, (left) => {
      this.space.touched(lstatSync(within(left, source.name)));
      this.inDirectory(target.parent, (right) => linkSync(within(left, source.name), within(right, target.name)));
    });
  }

  /** Removes a file, or a link itself. */
  unlink(path: string): void {
    this.#rejectRoot(path);
    const { parent, name } = splitVolumePath(path);
    this.inDirectory(parent, (directory) => {
      const stats = lstatSync(within(directory, name));
      unlinkSync(within(directory, name));
      this.space.removed(stats);
    });
  }

  /** Removes an empty directory. */
  removeDirectory(path: string): void {
    this.#rejectRoot(path);
    const { parent, name } = splitVolumePath(path);
    this.inDirectory(parent, (directory) => rmdirSync(within(directory, name)));
  }

  /** The stored target of the link `path`. */
  readLink(path: string): string {
    const { parent, name } = splitVolumePath(path);
    return this.inDirectory(parent, (directory) => linkTargetAt(within(directory, name)));
  }

  /** Creates a link; `ELOOP` if its target would resolve outside the volume. The target need not exist. */
  symlink(target: string, path: string): void {
    this.#rejectRoot(path);
    const { parent, name } = splitVolumePath(path);
    this.#rejectOutwardTarget(target, parent);
    this.inDirectory(parent, (directory) => {
      symlinkSync(nameOnDisk(target), within(directory, name));
      this.space.added(lstatSync(within(directory, name)));
      inheritOwner(directory, name);
    });
  }

  /**
   * Runs `use` with a path that refers to exactly the file or directory at `path`, for calls that change its attributes.
   * Follows links inside the volume. Needs neither read nor write permission.
   */
  inNode<T>(path: string, use: (node: string) => T): T {
    const { parent, name } = splitVolumePath(path === '' ? '' : this.realPath(path));
    const node =
      name === '' ? this.hold('') : this.inDirectory(parent, (directory) => holdNode(directory, name), 'reject');
    try {
      const stats = fstatSync(node);
      if (!stats.isDirectory()) rejectUnlessFile(path, stats);
      this.space.touched(stats);
      return use(`/proc/self/fd/${node}`);
    } finally {
      closeSync(node);
    }
  }

  /** `path` with all links resolved, including one at its end; the result is inside the volume. */
  realPath(path: string): string {
    return resolveLinks(this.root, path, 'follow');
  }

  #absolute(path: string): string {
    return path === '' ? this.root : `${this.root}/${path}`;
  }

  /** False only if one check finds nothing; the caller then continues with the parent, and handles links there. */
  #isDirectory(path: string, links: 'follow' | 'reject'): boolean {
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

  #rejectRoot(...paths: string[]): void {
    if (paths.includes('')) throw errno('EBUSY', 'cannot rename or remove the root of the volume');
  }

  #rejectOutwardTarget(target: string, parent: string): void {
    const depth = parent === '' ? 0 : this.realPath(parent).split('/').length;
    if (target === '' || target.startsWith('/') || target.includes('\0') || climbs(target, depth)) {
      throw new ConfinementError(`could not link to '${target}': it is not inside the volume`);
    }
  }
}

/** The tree beneath `root`, which must exist. Links on the way to it are the operator's, and resolved once. */
export function openConfinedTree(root: string, options: TreeOptions = {}): ConfinedTree {
  return new ConfinedTree(realpathSync(root), options);
}

/** Undefined for an entry that was removed, and for incomplete files. */
function statIn(directory: HeldDirectory, name: string): Stats | undefined {
  if (name.startsWith(TEMPORARY_PREFIX)) return undefined;
  return lstatSync(within(directory, name), { throwIfNoEntry: false });
}
