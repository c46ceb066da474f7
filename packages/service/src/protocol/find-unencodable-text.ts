/** A string that would change in transit, and the path of its field. */
export interface UnencodableText {
  readonly path: string;
  readonly why: string;
}

/**
 * Finds the first string or name in a JSON value that cannot be passed on unchanged. A lone surrogate becomes another
 * character on the way to a container. The name `__proto__` is lost when its object is copied.
 */
export function findUnencodableText(value: unknown, path: readonly string[] = []): UnencodableText | undefined {
  if (typeof value === 'string') return isText(value) ? undefined : { path: path.join('.'), why: LONE_SURROGATE };
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    const at = [...path, name];
    if (name === '__proto__') return { path: at.join('.'), why: 'has a name that cannot be used' };
    if (!isText(name)) return { path: at.join('.'), why: LONE_SURROGATE };
    const fault = findUnencodableText(item, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const LONE_SURROGATE = 'contains a lone surrogate, which is not a character';

function isText(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
