import type { Json } from '@sluice/core';
import type { z } from 'zod';

/**
 * The form that a value of a schema has in memory: each `time` is a number, in milliseconds since the Unix epoch.
 * `renderTimes` makes the JSON of it.
 */
export type InMilliseconds<T> =
  T extends z.core.$brand<'time'>
    ? number
    : Json extends T
      ? T
      : T extends readonly (infer E)[]
        ? readonly InMilliseconds<E>[]
        : T extends object
          ? { readonly [K in keyof T]: InMilliseconds<T[K]> }
          : T;
