/** Whether a path is `outer` or below it. Both are absolute, or relative to the same place, and normalized. */
export function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}/`);
}
