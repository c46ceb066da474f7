/** `T` with its times as text: those properties whose names end in `At`, and `at`. */
export type JsonTimes<T> = T extends unknown
  ? { readonly [K in keyof T]: K extends 'at' | `${string}At` ? RenderedTime<T[K]> : T[K] }
  : never;

type RenderedTime<T> = T extends number ? string : T;

/**
 * Replaces times of an object, in milliseconds since the Unix epoch, by RFC 3339 in UTC with milliseconds. Changes no
 * nested objects: names within parameters and results are the user's.
 */
export function renderTimes<T extends object>(value: T): JsonTimes<T> {
  const rendered: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const isTime = typeof item === 'number' && (key === 'at' || key.endsWith('At'));
    rendered[key] = isTime ? new Date(item).toISOString() : item;
  }
  return rendered as JsonTimes<T>;
}
