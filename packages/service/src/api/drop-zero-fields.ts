/** What the zero time of Go's standard library is in JSON. */
const ZERO_TIME = '0001-01-01T00:00:00Z';

/**
 * Drops the fields for which a client has no value: null and '', and of those that only a reply has also zeros, false and
 * what holds nothing else, as programs send it that send the structure of a whole resource. A field with a value stays,
 * to be refused: its sender means something by it.
 */
export function dropZeroFields(value: unknown, isOfReply: (name: string) => boolean): unknown {
  if (!isObject(value)) return value;
  const given = Object.entries(value).filter(
    ([name, field]) => field !== null && field !== '' && !(isOfReply(name) && isZero(field)),
  );
  return Object.fromEntries(given);
}

/** Whether a name is one of a reply's fields and not of the request's; untagged fields of Go are capitalized. */
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

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
