import { isByteName } from '../name-bytes.ts';
import { ServiceError } from '../service-error.ts';

/**
 * The segments of a path in a volume; none for the root. Throws `INVALID_ARGUMENT` for paths that `VolumeFiles`
 * rejects.
 */
export function volumePathSegments(path: string): string[] {
  if (path === '') return [];
  const segments = path.split('/');
  const wrong = segments.some((it) => it === '' || it === '.' || it === '..' || it.includes('\0'));
  if (wrong || !isByteName(path)) {
    throw new ServiceError(
      'INVALID_ARGUMENT',
      `could not use the path ${JSON.stringify(path)}: not a path in a volume`,
    );
  }
  return segments;
}

/** The parent directory of `path`; undefined for the root. */
export function parentPath(path: string): string | undefined {
  if (path === '') return undefined;
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '' : path.slice(0, slash);
}
