import { execFile } from 'node:child_process';
import { chmod, lstat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { EngineError, type Launch } from '../engine.ts';
import type { UnixUser } from './unix-user.ts';

const run = promisify(execFile);
const PASSABLE = 0o011;

/**
 * Makes the user who runs a container the only owner of its directory and volumes, recursively. The directories from
 * `storage` to them become traversable, but not listable. Done once per directory: later the service creates files there in
 * the user's name, and links are the user's.
 */
export async function chownToUser(launch: Launch, user: UnixUser, storage: string): Promise<void> {
  for (const path of [launch.directory, ...launch.mounts.map(({ root }) => root)]) {
    for (const above of between(storage, path)) {
      const { mode } = await lstat(above);
      if ((mode & PASSABLE) !== PASSABLE) await chmod(above, (mode & 0o7777) | PASSABLE);
    }
    const { uid } = await lstat(path);
    if (uid === user.uid) continue;
    // Before the change of owner. `chown -R` changes the directory itself last, so an interrupted change is repeated.
    await chmod(path, 0o700);
    await run('chown', ['-R', '-P', '--no-dereference', `${user.uid}:${user.gid}`, '--', path]);
  }
}

/** Throws `EngineError` `UNAVAILABLE` if other users cannot reach `storage`, which the service cannot fix. */
export async function checkReachable(storage: string): Promise<void> {
  for (let path = dirname(storage); ; path = dirname(path)) {
    if (((await lstat(path)).mode & 0o001) === 0) {
      throw new EngineError(
        'UNAVAILABLE',
        `could not run jobs as the users of 'unixUsers': they cannot reach '${storage}' because '${path}' is closed to them; ` +
          `open it (chmod o+x '${path}'), or set 'storage' to a directory that they can reach`,
      );
    }
    if (path === dirname(path)) return;
  }
}

/** The directories from `storage` to the parent of `path`. */
function between(storage: string, path: string): string[] {
  const names = relative(storage, dirname(path)).split('/').filter(Boolean);
  if (names[0] === '..') throw new Error(`'${path}' is not beneath '${storage}'`);
  return [storage, ...names.map((_, i) => join(storage, ...names.slice(0, i + 1)))];
}
