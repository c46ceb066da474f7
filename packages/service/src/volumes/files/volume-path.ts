import { isByteName } from '@sluice/client';

const MAX_SEGMENT_BYTES = 255;
const MAX_PATH_BYTES = 3_072;

/**
 * Why `path` is invalid in a volume; undefined if it is valid: relative, `/`-separated, without `.`, `..`, empty segments,
 * NUL or invalid Unicode, and within the kernel's length limits. `''` is the root.
 */
export function checkVolumePath(path: string): string | undefined {
  if (path === '') return undefined;
  if (path.startsWith('/')) return 'it is absolute';
  if (path.includes('\0')) return 'it holds a NUL';
  if (!isByteName(path)) return 'it is not valid Unicode';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `it is longer than ${MAX_PATH_BYTES} bytes`;
  for (const segment of path.split('/')) {
    if (segment === '') return 'it has an empty segment';
    if (segment === '.' || segment === '..') return `it has the segment '${segment}'`;
    if (segment.length > MAX_SEGMENT_BYTES / 3 && Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) {
      return `it has a segment longer than ${MAX_SEGMENT_BYTES} bytes`;
    }
  }
  return undefined;
}

/** The parent directory of `path` and its last segment. Must not be called for the root. */
export function splitVolumePath(path: string): { parent: string; name: string } {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? { parent: '', name: path } : { parent: path.slice(0, slash), name: path.slice(slash + 1) };
}

/** The path of `name` in `directory`; the root is `''`. */
export function joinVolumePath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}
