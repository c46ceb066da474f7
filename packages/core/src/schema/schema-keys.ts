import { z } from 'zod';
import { own } from '../model/own.ts';

/**
 * The keys that a map at `path` may have in any form of the schema; empty if the schema has no map there, or allows any
 * key.
 */
export function schemaKeys(schema: z.ZodType, path: readonly (string | number)[]): readonly string[] {
  return [...new Set(shapesAt(schema, path).flatMap(({ shape }) => Object.keys(shape)))];
}

function shapesAt(schema: z.core.$ZodType, path: readonly (string | number)[]): readonly z.ZodObject[] {
  if (schema instanceof z.ZodOptional) return shapesAt(schema.unwrap(), path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => shapesAt(option, path));
  const [key, ...rest] = path;
  if (key === undefined) return schema instanceof z.ZodObject ? [schema] : [];
  if (schema instanceof z.ZodRecord) return shapesAt(schema.valueType, rest);
  if (schema instanceof z.ZodArray) return shapesAt(schema.element, rest);
  const inner = schema instanceof z.ZodObject ? own(schema.shape, String(key)) : undefined;
  return inner === undefined ? [] : shapesAt(inner, rest);
}
