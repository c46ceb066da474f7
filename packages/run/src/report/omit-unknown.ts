/** All fields of `T`, of which those that `T` may omit can be undefined. */
type AllFields<T> = { readonly [K in keyof T]-?: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/**
 * An object without the fields that are undefined. A literal with a condition for each field would do, but V8 gives each
 * object of a literal that begins with `...fields` and adds others a hidden class of its own for each of these: larger than
 * the object, and only removed with the old objects. That is too much for each of 500,000 attempts.
 */
export function omitUnknown<T extends object>(fields: AllFields<T>): T {
  const known: Partial<Record<keyof T, unknown>> = {};
  for (const name in fields) if (fields[name] !== undefined) known[name] = fields[name];
  return known as T;
}
