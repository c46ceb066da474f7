import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import { createDoubles, type Doubles, mergeDoubles } from './doubles.ts';

/**
 * A value whose doubles are templates, so that they stay doubles wherever a file's value is copied to. Only the first
 * whole number of each place becomes one: the others at its place follow it, and a list may have a hundred thousand.
 */
export function toDoubleTemplates(value: Json, doubles: Doubles | undefined): Json {
  return convert(value, doubles, { name: '', done: new Set() });
}

interface Place {
  /** Equal for the items of a list. */
  readonly name: string;
  /** The names of the places that have a template. */
  readonly done: Set<string>;
}

function convert(value: Json, doubles: Doubles | undefined, { name, done }: Place): Json {
  if (doubles === undefined) return value;
  if (typeof value === 'number') {
    if (doubles.number !== true || !Number.isSafeInteger(value) || done.has(name)) return value;
    done.add(name);
    return `\${{ ${value}.0 }}`;
  }
  if (Array.isArray(value)) {
    const place = { name: `${name}[]`, done };
    return value.map((item: Json) => convert(item, doubles.items, place));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      convert(item, own(doubles.keys, key), { name: `${name}.${JSON.stringify(key)}`, done }),
    ]),
  );
}

const DOUBLE_TEMPLATE = /^\$\{\{ (-?\d+)\.0 \}\}$/;

/** The reverse: the same value if it contains no such template. */
export function fromDoubleTemplates(value: Json): { readonly value: Json; readonly doubles: Doubles | undefined } {
  if (typeof value === 'string') {
    const digits = DOUBLE_TEMPLATE.exec(value)?.[1];
    return digits === undefined ? { value, doubles: undefined } : { value: Number(digits), doubles: { number: true } };
  }
  if (typeof value !== 'object' || value === null) return { value, doubles: undefined };
  const parts = Object.entries(value).map(([key, item]) => ({ key, ...fromDoubleTemplates(item) }));
  const typed = parts.flatMap(({ key, doubles }) => (doubles === undefined ? [] : [[key, doubles] as const]));
  if (typed.length === 0) return { value, doubles: undefined };
  if (Array.isArray(value)) {
    const items = mergeDoubles(typed.map(([, doubles]) => doubles));
    return { value: parts.map((part) => part.value), doubles: createDoubles({ items }) };
  }
  return {
    value: Object.fromEntries(parts.map((part) => [part.key, part.value])),
    doubles: createDoubles({ keys: typed }),
  };
}
