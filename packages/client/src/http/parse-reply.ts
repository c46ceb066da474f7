import type { z } from 'zod';
import { ServiceError } from '../service-error.ts';
import { hiddenError } from './reply-error.ts';

/**
 * The body of a 2xx reply, parsed by `schema`. Unknown fields and phases are accepted. A field with the value null
 * counts as absent, because services in other languages send empty values this way.
 */
export function parseReply<T>(schema: z.ZodType<T>, reply: { status: number; text: string; what: string }): T {
  const { status, text, what } = reply;
  const invalid = (why: string) =>
    new ServiceError('INVALID_REPLY', `could not ${what}: the service replied ${status} with ${why}`, { status });
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalid(text.trim() === '' ? 'an empty body' : 'a body that is not JSON');
  }
  const hidden = hiddenError(what, status, body);
  if (hidden !== undefined) throw hidden;
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const again = schema.safeParse(withoutNulls(body, 0));
  if (again.success) return again.data;
  const issue = again.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? 'the body' : issue.path.join('.');
  throw invalid(`a body that the protocol does not know: ${where}: ${issue?.message ?? 'invalid'}`);
}

/** Deeper than any reply of the protocol; deeper levels are left unchanged. */
const MAX_DEPTH = 20;

function withoutNulls(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, depth + 1));
  const kept = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item, depth + 1)]));
}
