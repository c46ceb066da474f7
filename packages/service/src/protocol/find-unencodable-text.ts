/** Text that would not come out as it went in, and where it is. */
export interface UnencodableText {
  readonly path: string;
  readonly why: string;
}

/**
 * The first string or name in JSON that is no text: half a surrogate pair becomes another character on its way to a
 * container, and `__proto__` is dropped by whoever copies what lies under it, with what a client meant by it.
 */
export function findUnencodableText(value: unknown, path: readonly string[] = []): UnencodableText | undefined {
  if (typeof value === 'string') return isText(value) ? undefined : { path: path.join('.'), why: HALF_PAIR };
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    const at = [...path, name];
    if (name === '__proto__') return { path: at.join('.'), why: 'has a name that cannot be used' };
    if (!isText(name)) return { path: at.join('.'), why: HALF_PAIR };
    const fault = findUnencodableText(item, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const HALF_PAIR = 'holds half of a surrogate pair, which is no character';

function isText(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
