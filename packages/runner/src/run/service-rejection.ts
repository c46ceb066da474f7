import { isServiceError, type ServiceError, type ServiceErrorCode } from '@sluice/client';
import { fail, type Result } from '@sluice/core';
import type { RunError } from '@sluice/run';

const SILENT: ReadonlySet<ServiceErrorCode> = new Set(['UNREACHABLE', 'NO_REPLY', 'UNAVAILABLE', 'INVALID_REPLY']);

/** The rejection for an error of the service. `what` is the failed operation, if the error's message does not name it. */
export function serviceRejection(error: ServiceError, what?: string): RunError {
  const message = what === undefined ? error.message : `${what}: ${error.message}`;
  if (error.code === 'UNAUTHENTICATED') return { code: 'LOGIN_REJECTED', message };
  // A gateway's error page says nothing about the service.
  const isSilent = error.isForeign || SILENT.has(error.code);
  return { code: isSilent ? 'SERVICE_UNREACHABLE' : 'SERVICE_REJECTED', message };
}

/** The result of an action, or the rejection for an error of the service that it throws. Throws all other errors. */
export async function rejectServiceErrors<T>(action: () => Promise<Result<T, RunError>>): Promise<Result<T, RunError>> {
  try {
    return await action();
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return fail(serviceRejection(error));
  }
}
