import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { within } from '../../storage/within.ts';
import { findAliases } from './find-aliases.ts';

/** How long links are looked up before those of the last time are used. */
const RESOLVED_WITHIN_MS = 2000;

/**
 * Returns a function that finds all names of absolute host paths: with links resolved, and by other mounts; outer ones first.
 * The first call waits until the paths can be looked up. If one is on a file system that has stopped answering, later calls
 * use the links of the last time, so that a launcher can be replaced and the containers of other storages be stopped.
 */
export function createNameFinder(paths: readonly string[]): () => Promise<string[]> {
  let known: readonly string[] | undefined;
  let lookup: Promise<readonly string[]> | undefined;
  // At most one at a time: on a file system that does not answer, it occupies a thread.
  const resolve = () => {
    lookup ??= resolveAll(paths).finally(() => {
      lookup = undefined;
    });
    return lookup;
  };
  return async () => {
    known = (known && (await within(RESOLVED_WITHIN_MS, resolve()))) ?? known ?? (await resolve());
    const mountinfo = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
    return [...new Set(known.flatMap((path) => [path, ...findAliases(path, mountinfo)]))].sort();
  };
}

async function resolveAll(paths: readonly string[]): Promise<string[]> {
  const resolved: string[] = [];
  for (const path of paths) resolved.push(await resolvePath(path));
  return resolved;
}

/** The path with links resolved. A path that does not exist yet can be created later, so its parent is resolved instead. */
async function resolvePath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await resolvePath(above), basename(path));
  }
}
