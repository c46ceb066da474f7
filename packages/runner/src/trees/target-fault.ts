import { lstat, mkdtemp, realpath, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { printableName } from '@sluice/client';
import { isSystemError, systemErrorCode } from '@sluice/host-system';
import { walkLocalTree } from './local-tree.ts';
import { RESULT_MARKER, readMarker } from './result-marker.ts';

const NAMED = 3;
const LOOKS = 20;

/** The fault of a target that is a mount point, which cannot be renamed. */
export const MOUNTED = 'it cannot be replaced, since something is mounted there; name a directory beneath it';

/** The path of `target` with all links followed, as far as it exists. */
export async function resolveTarget(target: string): Promise<string> {
  try {
    return await realpath(target);
  } catch (error) {
    const above = path.dirname(target);
    if (!isSystemError(error, 'ENOENT') || above === target) throw error;
    return path.join(await resolveTarget(above), path.basename(target));
  }
}

/** Like `targetFault`, for any path before a run begins. It also tries to create a directory there. */
export async function findTargetFault(to: string, around: readonly string[]): Promise<string | undefined> {
  try {
    const target = await resolveTarget(to);
    const fault = await targetFault(target, await Promise.all(around.map(resolveTarget)));
    if (fault !== undefined) return fault;
    const probe = await mkdtemp(path.join(await findExisting(path.dirname(target)), '.sluice-'));
    await rmdir(probe);
    return undefined;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return `no directory can be created there (${systemErrorCode(error)}); name another one`;
  }
}

/** Why a target is not a visible directory below `above`, with all links followed; undefined if it is. */
export async function findOutside(to: string, above: string): Promise<string | undefined> {
  const [target, root] = await Promise.all([resolveTarget(to), resolveTarget(above)]);
  const parts = path.relative(root, target).split(path.sep);
  const isBelow = parts[0] !== '' && parts[0] !== '..';
  if (isBelow && !parts.some((part) => part.startsWith('.'))) return undefined;
  const what = isBelow ? 'it is hidden' : `it is not below ${above}`;
  return `${what}, and a run that was requested by HTTP publishes nowhere else; start it with \`sluice run\``;
}

async function findExisting(directory: string): Promise<string> {
  const there = await stat(directory).catch(absent);
  return there ? directory : findExisting(path.dirname(directory));
}

/**
 * Why a result must not replace the directory `target`, a path from `resolveTarget`; undefined if it may. The directories
 * `around` must not be replaced.
 */
export async function targetFault(target: string, around: readonly string[]): Promise<string | undefined> {
  const there = await lstat(target).catch(absent);
  if (there && !there.isDirectory()) return 'it is not a directory; remove it, or name another directory';
  const inside = around.find((directory) => directory === target || directory.startsWith(`${target}/`));
  if (inside !== undefined || path.dirname(target) === target) {
    return `a result replaces its directory as a whole, and ${inside ?? 'the root directory'} has to stay; name a directory of its own`;
  }
  if (!there) return undefined;
  if (there.dev !== (await lstat(path.dirname(target))).dev) return MOUNTED;
  const foreign = await findForeign(target);
  if (foreign.length === 0) return undefined;
  const named = foreign.slice(0, NAMED).map((name) => JSON.stringify(printableName(name)));
  const more = foreign.length > NAMED ? ` and ${foreign.length - NAMED} more` : '';
  return `it contains files that Sluice did not write: ${named.join(', ')}${more}; move them, or name a directory of its own`;
}

/** The files, links and special files in a target that its marker does not list. */
async function findForeign(target: string): Promise<string[]> {
  for (let looks = 1; ; looks++) {
    const marker = await readMarker(target);
    const ours = new Set(marker?.files);
    if (marker) ours.add(RESULT_MARKER);
    const foreign: string[] = [];
    try {
      for await (const { path: at, kind } of walkLocalTree(target))
        if (kind !== 'dir' && !ours.has(at)) foreign.push(at);
    } catch (error) {
      absent(error);
    }
    if (foreign.length === 0) return [];
    // Another delivery may have replaced the directory between the two reads.
    const isSame = JSON.stringify(await readMarker(target)) === JSON.stringify(marker);
    if (isSame || looks === LOOKS) return foreign.sort();
  }
}

function absent(error: unknown): undefined {
  if (isSystemError(error, 'ENOENT')) return undefined;
  throw error;
}
