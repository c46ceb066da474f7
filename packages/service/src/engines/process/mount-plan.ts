import { normalize } from 'node:path/posix';
import { EngineError, type Mount } from '../engine.ts';

/** A mount in the order in which it is made. */
export interface PlannedMount extends Mount {
  /** Its mount point lies in the private `/tmp` or in another mount: it can be made only in the container itself. */
  readonly isLate: boolean;
}

const reserved = ['/proc', '/sys', '/dev'];
/** What the bound of the API is. */
const mountsAtMost = 10_000;

/**
 * Sorts mounts so that outer ones come before inner ones and equal sets look equal. Throws `EngineError` `REFUSED`
 * where two want one place or one wants a place that belongs to the kernel.
 */
export function planMounts(mounts: readonly Mount[]): PlannedMount[] {
  if (mounts.length > mountsAtMost)
    throw refusal(`could not mount ${mounts.length} volumes: at most ${mountsAtMost} fit`);
  const sorted = mounts
    .map((mount) => {
      const target = cleanTarget(mount.target);
      // By segments: what lies in a mount follows it at once.
      return { mount: { ...mount, target }, order: target.replaceAll('/', '\0') };
    })
    .sort((one, other) => (one.order < other.order ? -1 : one.order > other.order ? 1 : 0));
  const around: string[] = [];
  return sorted.map(({ mount }) => {
    while (around.length > 0 && !isBeneath(mount.target, around.at(-1)!)) {
      if (around.pop() === mount.target) throw refusal(`could not mount two volumes at '${mount.target}'`);
    }
    const isInside = around.length > 0;
    around.push(mount.target);
    return { ...mount, isLate: isInside || isBeneath(mount.target, '/tmp') };
  });
}

function cleanTarget(target: string): string {
  const clean = normalize(target).replace(/(.)\/+$/, '$1');
  if (!clean.startsWith('/') || clean === '/')
    throw refusal(`could not mount at '${target}': it must be an absolute path below '/'`);
  const taken = reserved.find((path) => clean === path || isBeneath(clean, path));
  if (taken !== undefined) throw refusal(`could not mount at '${target}': '${taken}' belongs to the system`);
  return clean;
}

function isBeneath(path: string, above: string): boolean {
  return path.startsWith(`${above}/`);
}

function refusal(message: string): EngineError {
  return new EngineError('REFUSED', message);
}
