import { z } from 'zod';
import { normalizeTarget } from './normalize-target.ts';

/** The kernel's limits for a path and for each name in it, in bytes. */
const MAX_PATH_BYTES = 4095;
const MAX_NAME_BYTES = 255;
/** Paths that the engines mount themselves. `/.sluice` contains the program that starts the command. */
const RESERVED = ['/proc', '/sys', '/dev', '/.sluice'];

/** A path in a container at which a volume can be mounted, with every engine. */
export const mountPointSchema = z.string().superRefine((path, context) => {
  const fault = mountPointFault(path);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});

/** Why a volume cannot be mounted at `path`; undefined if it can. */
function mountPointFault(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must be an absolute path';
  // Control characters would break the line-based input of engines and runtimes.
  if (/\p{Cc}/u.test(path)) return 'must not contain a control character';
  const names = path.split('/');
  if (names.some((name) => name === '.' || name === '..')) return "must have no segment '.' or '..'";
  const point = normalizeTarget(path);
  if (point === '/') return 'must not be the root directory';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `must not be longer than ${MAX_PATH_BYTES} bytes`;
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    return `must have no segment of more than ${MAX_NAME_BYTES} bytes`;
  }
  const taken = RESERVED.find((place) => point === place || point.startsWith(`${place}/`));
  return taken === undefined ? undefined : `must not be in ${taken}, which belongs to the system`;
}
