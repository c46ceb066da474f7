/** Pages of a directory: their relative links need the slash at the end. */
const PAGES = /^\/ui\/(?:[^/]+\/[^/]+\/)?$/;

/**
 * The target of a request as all routes, hooks and handlers see it: repeated slashes in the path count as one, and a slash at
 * its end is ignored, except of a page below `/ui`. Nothing is decoded or resolved: `%2f`, `.` and `..` stay names, which no
 * route has. Published clients send two slashes, because their base URL ends with one.
 */
export function canonicalTarget(target: string): string {
  const end = target.search(/[?#]/);
  const whole = end < 0 ? target : target.slice(0, end);
  // Through a proxy, a target can be a whole URL.
  const path = whole.replace(/^https?:\/\/[^/]*\/?/i, '/').replace(/\/{2,}/g, '/');
  const query = end < 0 ? '' : target.slice(end);
  return (path.length > 1 && path.endsWith('/') && !PAGES.test(path) ? path.slice(0, -1) : path) + query;
}
