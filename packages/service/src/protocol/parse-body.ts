import type { z } from 'zod';
import { findUnencodableText } from './find-unencodable-text.ts';
import { nearestName } from './nearest-name.ts';
import { RequestError } from './request-error.ts';
import { shorten } from './shorten.ts';

/** Parses a request body by its strict schema. The error names the first invalid field, and the nearest name if it is unknown. */
export function parseBody<T>(schema: z.ZodType<T> & { shape?: object }, input: unknown): T {
  const fault = findUnencodableText(input);
  if (fault !== undefined) return rejectField(fault.path, fault.why);
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    const field = shorten(path === '' ? key : `${path}.${key}`);
    const nearest = path === '' ? nearestName(key, Object.keys(schema.shape ?? {})) : undefined;
    const hint = nearest === undefined ? '' : `; the nearest known field is '${nearest}'`;
    throw new RequestError('FIELD_UNKNOWN', `could not use the field '${field}' because it is unknown${hint}`, {
      details: { field },
    });
  }
  return rejectField(path, `is not valid: ${issue.message}`);
}

/** Rejects the field at `path`; `''` means the body itself. */
export function rejectField(path: string, why: string): never {
  const field = shorten(path);
  const what = field === '' ? 'the body' : `the field '${field}'`;
  throw new RequestError('FIELD_INVALID', `could not use ${what} because it ${why}`, { details: { field } });
}
