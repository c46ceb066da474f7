import { identifierSchema } from '@sluice/client';
import { isRunId } from '@sluice/home';
import { MAX_TIME } from '@sluice/run';
import { z } from 'zod';

/** Of lists that are as long as a run has steps or cells. */
export const MAX_ITEMS = 1_000_000;
/** Of lists that a person writes. */
const MAX_WRITTEN = 10_000;
const MAX_DEPTH = 64;

/** Text without a fixed form; its size is limited by that of the file, too. */
export const text = z.string().max(262_144);
/** Text that lists of runs, metrics and logs show. */
export const shortText = z.string().max(1024);
/** As in a pipeline file. These names become parts of local paths. */
export const name = z.string().regex(/^[a-z0-9-]{1,100}$/);
/** A name of a parameter, an input, an output or a result. */
export const identifier = z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,99}$/);
/** A name of a variable or a secret. */
export const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_.]{0,255}$/);
/** As in `Cell`; it becomes a part of local paths. */
export const cellKey = z.string().regex(/^[a-z0-9-]{0,200}$/);
/** It becomes a part of local paths. */
export const runId = z.string().refine(isRunId);
/** Of clusters, accounts, volumes and containers. */
export const serviceId = identifierSchema;
/** In milliseconds, since the Unix epoch or of a duration. */
export const time = z.number().min(0).max(MAX_TIME);
/** A number or an index of things that a run has. */
export const count = z.int().min(0).max(MAX_ITEMS);
/** Of a request or a tree. */
export const digest = z.string().max(256);
/** Any `JsonType`. */
export const type = z.enum(['string', 'integer', 'number', 'boolean', 'array', 'object']);
/** Data of the user, in which only the nesting and some keys are limited: see `findUnsafeJson`. */
export const json = z.unknown();

/** A key that may be absent, but not undefined. */
export function optional<T extends z.ZodType>(schema: T) {
  return schema.exactOptional();
}

/** A list with a limit. */
export function list<T extends z.ZodType>(item: T, max = MAX_WRITTEN) {
  return z.array(item).max(max);
}

/** A record with a limit. */
export function map<K extends z.core.$ZodRecordKey, V extends z.ZodType>(key: K, value: V, max = MAX_WRITTEN) {
  return z.record(key, value).refine((record) => Object.keys(record).length <= max, `must have at most ${max} keys`);
}

/**
 * Describes what no received value may contain, whatever its schema: a key that changes the prototype of the object to which
 * it is copied, a number that JSON cannot represent, and nesting that exhausts the stack.
 */
export function findUnsafeJson(value: unknown): string | undefined {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: one, depth } = next;
    if (typeof one === 'number' && !Number.isFinite(one)) return 'a number that is too large';
    if (typeof one !== 'object' || one === null) continue;
    if (depth >= MAX_DEPTH) return `more than ${MAX_DEPTH} levels of nesting`;
    if (Object.hasOwn(one, '__proto__')) return 'the key __proto__';
    for (const inner of Object.values(one)) open.push({ value: inner, depth: depth + 1 });
  }
  return undefined;
}
