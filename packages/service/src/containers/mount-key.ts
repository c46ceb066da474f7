import { identifierSchema } from '@sluice/client';

/** A parsed mount key: `<volumeID>`, `<volumeID>:<subPath>` or `<volumeID>:<subPath>:dir|file`. */
export interface MountKey {
  readonly volumeID: string;
  /** `''` for the whole volume. */
  readonly subPath: string;
  /** What to create if nothing exists at `subPath`. */
  readonly create?: 'dir' | 'file';
}

const MAX_SUB_PATH_BYTES = 4095;
const MAX_NAME_BYTES = 255;

/** Parses a mount key. `reason` completes the sentence "could not mount … because". */
export function parseMountKey(key: string): { ok: true; value: MountKey } | { ok: false; reason: string } {
  const colon = key.indexOf(':');
  const volumeID = colon === -1 ? key : key.slice(0, colon);
  if (!identifierSchema.safeParse(volumeID).success) {
    return { ok: false, reason: `'${volumeID}' is not a volume ID (1 to 63 of a-z, 0-9 and -)` };
  }
  if (colon === -1) return { ok: true, value: { volumeID, subPath: '' } };
  const rest = key.slice(colon + 1);
  const last = rest.lastIndexOf(':');
  const option = last === -1 ? undefined : rest.slice(last + 1);
  if (option !== undefined && option !== 'dir' && option !== 'file') {
    return { ok: false, reason: `'${option}' is neither dir nor file` };
  }
  const subPath = last === -1 ? rest : rest.slice(0, last);
  const fault = subPathFault(subPath);
  if (fault !== undefined) return { ok: false, reason: fault };
  return { ok: true, value: { volumeID, subPath, ...(option === undefined ? {} : { create: option }) } };
}

/** Why `path` is not a valid path in a volume; undefined if it is. */
function subPathFault(path: string): string | undefined {
  if (path === '') return 'the path in the volume is empty';
  if (path.includes('\0')) return 'the path in the volume contains a NUL';
  if (path.includes(':')) return 'the path in the volume contains a colon';
  if (path.startsWith('/')) return 'the path in the volume is absolute';
  if (Buffer.byteLength(path) > MAX_SUB_PATH_BYTES) return `the path is longer than ${MAX_SUB_PATH_BYTES} bytes`;
  for (const name of path.split('/')) {
    if (name === '') return 'the path has an empty segment';
    if (name === '.' || name === '..') return `the path has a segment '${name}'`;
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `the path has a segment of more than ${MAX_NAME_BYTES} bytes`;
  }
  return undefined;
}
