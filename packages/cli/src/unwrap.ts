import { type Diagnostic, type Result, renderDiagnostic } from '@sluice/core';
import type { RunRefusal } from '@sluice/runner';

/**
 * Returns the value of a result; otherwise throws an `Error` whose message lists everything that is wrong. For programs
 * that prefer exceptions.
 */
export function unwrap<T>(result: Result<T, RunRefusal | readonly Diagnostic[]>): T {
  if (result.ok) return result.value;
  const { error } = result;
  throw new Error('message' in error ? error.message : error.map((one) => renderDiagnostic(one)).join('\n'));
}
