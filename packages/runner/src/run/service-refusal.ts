import { isServiceError, type ServiceError } from '@sluice/client';
import type { RunRefusal } from './run-options.ts';

/** A refusal for what the service did not do; `what` could not be done, where the error does not say it. */
export function serviceRefusal(error: ServiceError, what?: string): RunRefusal {
  const message = what === undefined ? error.message : `${what}: ${error.message}`;
  if (isServiceError(error, 'UNAUTHENTICATED')) return { code: 'LOGIN_REFUSED', message };
  // A gateway's page says nothing of the service either.
  const isSilent =
    error.isForeign || isServiceError(error, 'UNREACHABLE', 'NO_REPLY', 'UNAVAILABLE', 'INVALID_REPLY');
  return { code: isSilent ? 'SERVICE_UNREACHABLE' : 'SERVICE_REFUSED', message };
}
