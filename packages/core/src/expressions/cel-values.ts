import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import { collectDoubles, type Doubles, findDoubles } from './doubles.ts';
import { spendTurns } from './evaluation-scope.ts';

/** A value with the places of its doubles, which JSON does not show. */
export interface TypedJson {
  readonly value: Json;
  readonly doubles: Doubles | undefined;
}

/**
 * Converts JSON to CEL: whole numbers become integers, unless they are known to be `doubles`. By default, these are the
 * numbers at the same place as one with a fraction, such as in the same list.
 */
export function toCel(value: Json, doubles: Doubles | undefined = findDoubles([value])): unknown {
  return convert(value, doubles);
}

function convert(value: Json, doubles: Doubles | undefined): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) && doubles?.number !== true ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item: Json) => convert(item, doubles?.items));
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, item]) => [key, convert(item, own(doubles?.keys, key))]));
}

/**
 * Limit for the values in a result: a list that contains one list twice, repeatedly, is small until it is serialized.
 */
const MAX_RESULT_VALUES = 2_000_000;

/** Converts a result of CEL to JSON. Throws if it has no such form. */
export function fromCel(value: unknown): Json {
  return revert(value, { values: 0 });
}

/** Like `fromCel`, with the places of the doubles. */
export function typedFromCel(value: unknown): TypedJson {
  // Its limit for the number of values holds for both.
  const json = fromCel(value);
  return { value: json, doubles: collectDoubles([value], () => true) };
}

/** A value of CEL whose integers at these places are converted to doubles. Throws if it is too large. */
export function withDoubles(value: unknown, doubles: Doubles): unknown {
  const counted = { values: 0 };
  const adjusted = adjust(value, doubles, counted);
  spendTurns(counted.values / PER_TURN);
  return adjusted;
}

/** Values that are converted in the time of one turn of a loop. */
const PER_TURN = 16;

interface Counted {
  values: number;
}

function count(counted: Counted): void {
  if (++counted.values > MAX_RESULT_VALUES) throw new Error(`the result holds more than ${MAX_RESULT_VALUES} values`);
}

function adjust(value: unknown, doubles: Doubles | undefined, counted: Counted): unknown {
  count(counted);
  if (doubles === undefined) return value;
  if (typeof value === 'bigint') return doubles.number === true ? Number(value) : value;
  if (Array.isArray(value)) return value.map((item: unknown) => adjust(item, doubles.items, counted));
  const entries = entriesOf(value);
  if (entries === undefined) return value;
  return new Map(entries.map(([key, item]) => [key, adjust(item, own(doubles.keys, String(key)), counted)]));
}

function revert(value: unknown, counted: Counted): Json {
  count(counted);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') {
    if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER)) {
      throw new Error(`the integer ${value} is too large`);
    }
    return Number(value);
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error(`the result ${value} is not a finite number`);
    return value;
  }
  if (Array.isArray(value)) return value.map((item: unknown) => revert(item, counted));
  if (value instanceof Date) return value.toISOString();
  const entries = entriesOf(value);
  if (entries === undefined) throw new Error('the result is neither a string, a number, a boolean, a list nor a map');
  return Object.fromEntries(entries.map(([key, item]) => [String(key), revert(item, counted)]));
}

function entriesOf(value: unknown): readonly (readonly [unknown, unknown])[] | undefined {
  if (value instanceof Map) return [...value];
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? Object.entries(value) : undefined;
}
