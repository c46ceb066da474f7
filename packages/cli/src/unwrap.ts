import { type Diagnostic, type Result, renderDiagnostic } from '@sluice/core';
import type { RunRefusal } from '@sluice/runner';

/** The value of a result; throws an `Error` with everything that is wrong where there is none. For programs that would rather have it so. */
export function unwrap<T>(result: Result<T, RunRefusal | readonly Diagnostic[]>): T {
  if (result.ok) return result.value;
  const { error } = result;
  throw new Error('message' in error ? error.message : error.map((one) => renderDiagnostic(one)).join('\n'));
}
