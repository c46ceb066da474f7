/** The zero time of Go's standard library in JSON. */
const ZERO_TIME = '0001-01-01T00:00:00Z';

/**
 * Drops fields without a value, because some clients send all fields of a resource: null and `''` in every field, and in
 * fields that only replies have also zeros, false, and objects and arrays that contain nothing else. A reply field with a
 * value is kept and later rejected, since ignoring it would hide a mistake.
 */
export function dropZeroFields(value: unknown, isReplyField: (name: string) => boolean): unknown {
  if (!isObject(value)) return value;
  const given = Object.entries(value).filter(
    ([name, field]) => field !== null && field !== '' && !(isReplyField(name) && isZero(field)),
  );
  return Object.fromEntries(given);
}

/** Tests whether a name is a field of the reply but not of the request. Ignores case, since untagged fields of Go are capitalized. */
export function replyOnly(reply: object, request: object): (name: string) => boolean {
  const names = Object.keys(reply).filter((name) => !Object.hasOwn(request, name));
  const lower = new Set(names.map((name) => name.toLowerCase()));
  return (name) => lower.has(name.toLowerCase()) && !Object.hasOwn(request, name);
}

function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.values(value).every(isZero);
  return value === null || value === '' || value === 0 || value === false || value === ZERO_TIME;
}

/** A JSON object; false for null and arrays. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
