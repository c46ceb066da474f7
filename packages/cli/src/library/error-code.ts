import { isServiceError, type ServiceErrorCode } from '@sluice/client';
import { type Diagnostic, fail, guardArguments, type Result, renderDiagnostic, SluiceError } from '@sluice/core';
import type { RunError, RunErrorCode } from '@sluice/run';

/**
 * The codes of every `SluiceError`: those of the library itself, those of a run that could not be started, read or changed,
 * and those of a call to a service.
 */
export type SluiceErrorCode =
  /** The pipeline or its parameters did not pass the checks; `diagnostics` has the reasons. */
  | 'INVALID_PIPELINE'
  /** An argument has the wrong type; only without TypeScript. */
  | 'INVALID_ARGUMENT'
  | 'DUPLICATE_AXIS'
  | 'DUPLICATE_STEP'
  | 'FOREIGN_HANDLE'
  | 'DUPLICATE_OUTPUT'
  | 'DUPLICATE_RESULT'
  /** A step whose result was requested did not succeed. */
  | 'NO_RESULT'
  /** The program did not read the events of a run; see `RunHandle.events`. */
  | 'EVENTS_OVERFLOW'
  /** No service could be chosen: its profile, address, account or credentials cannot be used; the message says why. */
  | 'SERVICE_UNUSABLE'
  /** A run is recorded, but no process has confirmed that it executes it; the message says what continues it. */
  | 'NOT_EXECUTED'
  /** A run cannot be deleted: it has not ended, has an output to be retained, or another run reuses it. */
  | 'RUN_KEPT'
  /** The operating system rejected a file or a process; `cause` is its error. */
  | 'SYSTEM'
  | RunErrorCode
  | ServiceErrorCode;

/**
 * Whether `error` is a `SluiceError`, of any copy of this package, with one of `codes` if any are given.
 *
 * @example
 * ```ts
 * import { isSluiceError, readRun } from 'sluice';
 *
 * try {
 *   await readRun('3o75');
 * } catch (error) {
 *   if (isSluiceError(error, 'RUN_NOT_FOUND')) console.error('start it first');
 *   else throw error;
 * }
 * ```
 */
export function isSluiceError(error: unknown, ...codes: SluiceErrorCode[]): error is SluiceError<SluiceErrorCode> {
  try {
    if (!(error instanceof Error) || error.name !== 'SluiceError') return false;
    return codes.length === 0 || codes.includes((error as SluiceError<SluiceErrorCode>).code);
  } catch {
    // A program may throw anything, also what cannot be read.
    return false;
  }
}

type Failure = RunError | readonly Diagnostic[] | SluiceError<SluiceErrorCode>;

/** Runs a call of the runner or of a service and returns each expected failure as a `SluiceError`. Bugs are thrown. */
export async function attempt<T>(
  call: () => Promise<Result<T, Failure>>,
): Promise<Result<T, SluiceError<SluiceErrorCode>>> {
  try {
    const result = await call();
    return result.ok ? result : fail(toSluiceError(result.error));
  } catch (error) {
    const known = findKnownError(error);
    if (known === undefined) throw error;
    return fail(known);
  }
}

/** As `attempt`, for what only reads its arguments: whatever else it throws is a mistake in them. */
export function attemptNow<T>(name: string, call: () => Result<T, Failure>): Result<T, SluiceError<SluiceErrorCode>> {
  try {
    const result = guardArguments(name, call);
    return result.ok ? result : fail(toSluiceError(result.error));
  } catch (error) {
    if (isSluiceError(error)) return fail(error);
    throw error;
  }
}

/** The value of a result; throws its error. */
export function unwrap<T>(result: Result<T, SluiceError<SluiceErrorCode>>): T {
  if (!result.ok) throw result.error;
  return result.value;
}

/** The error for a failure that the core or the runner has returned as data. */
function toSluiceError(failure: Failure): SluiceError<SluiceErrorCode> {
  if (failure instanceof Error) return failure;
  if ('code' in failure) return new SluiceError(failure.code, failure.message);
  const message = failure.map((diagnostic) => renderDiagnostic(diagnostic)).join('\n');
  return new SluiceError('INVALID_PIPELINE', message, { diagnostics: failure });
}

/** The error for what a service or the operating system has thrown; undefined for a bug. */
function findKnownError(error: unknown): SluiceError<SluiceErrorCode> | undefined {
  if (isSluiceError(error)) return error;
  if (isServiceError(error)) return new SluiceError(error.code, error.message, { cause: error });
  const isSystem = error instanceof Error && 'syscall' in error;
  return isSystem ? new SluiceError('SYSTEM', error.message, { cause: error }) : undefined;
}
