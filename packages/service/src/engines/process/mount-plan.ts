import { normalize } from 'node:path/posix';
import { EngineError, type Mount } from '../engine.ts';

/** A mount; the order of the list is the order of mounting. */
export interface PlannedMount extends Mount {
  /**
   * Its mount point is inside the private `/tmp` or inside another mount, so it can be created only in the container itself.
   */
  readonly isLate: boolean;
}

const reserved = ['/proc', '/sys', '/dev'];
/** The same limit as in the API. */
const mountsAtMost = 10_000;

/**
 * Sorts mounts: outer ones before inner ones, and equal sets in the same order. Throws `EngineError` `REJECTED` if two mounts
 * have the same target, or a target belongs to the kernel.
 */
export function planMounts(mounts: readonly Mount[]): PlannedMount[] {
  if (mounts.length > mountsAtMost)
    throw rejection(`could not mount ${mounts.length} volumes: at most ${mountsAtMost} fit`);
  const sorted = mounts
    .map((mount) => {
      const target = cleanTarget(mount.target);
      // Compared by segments, so that inner mounts directly follow the mount that contains them.
      return { mount: { ...mount, target }, order: target.replaceAll('/', '\0') };
    })
    .sort((one, other) => (one.order < other.order ? -1 : one.order > other.order ? 1 : 0));
  const around: string[] = [];
  return sorted.map(({ mount }) => {
    while (around.length > 0 && !isBeneath(mount.target, around.at(-1)!)) {
      if (around.pop() === mount.target) throw rejection(`could not mount two volumes at '${mount.target}'`);
    }
    const isInside = around.length > 0;
    around.push(mount.target);
    return { ...mount, isLate: isInside || isBeneath(mount.target, '/tmp') };
  });
}

function cleanTarget(target: string): string {
  const clean = normalize(target).replace(/(.)\/+$/, '$1');
  if (!clean.startsWith('/') || clean === '/')
    throw rejection(`could not mount at '${target}': it must be an absolute path below '/'`);
  const taken = reserved.find((path) => clean === path || isBeneath(clean, path));
  if (taken !== undefined) throw rejection(`could not mount at '${target}': '${taken}' belongs to the system`);
  return clean;
}

function isBeneath(path: string, above: string): boolean {
  return path.startsWith(`${above}/`);
}

function rejection(message: string): EngineError {
  return new EngineError('REJECTED', message);
}
