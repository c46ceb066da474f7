const known = new WeakMap<object, ReadonlySet<string>>();

/**
 * The keys of a map, or the elements of a list, as a set. It is computed once per holder, because thousands of places
 * may look for a name in it.
 */
export function namesOf(holder: Readonly<Record<string, unknown>> | readonly string[]): ReadonlySet<string> {
  const before = known.get(holder);
  if (before !== undefined) return before;
  const names = new Set(Array.isArray(holder) ? (holder as readonly string[]) : Object.keys(holder));
  known.set(holder, names);
  return names;
}
