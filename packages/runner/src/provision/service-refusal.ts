import type { ServiceError, ServiceErrorCode } from '@sluice/client';
import type { RunRefusal } from '../record/run-refusal.ts';

const SILENT: ReadonlySet<ServiceErrorCode> = new Set(['UNREACHABLE', 'NO_REPLY', 'UNAVAILABLE', 'INVALID_REPLY']);

/** A refusal for what the service did not do; `what` could not be done, where the error does not say it. */
export function serviceRefusal(error: ServiceError, what?: string): RunRefusal {
  const message = what === undefined ? error.message : `${what}: ${error.message}`;
  if (error.code === 'UNAUTHENTICATED') return { code: 'LOGIN_REFUSED', message };
  // A gateway's page says nothing of the service.
  const isSilent = error.isForeign || SILENT.has(error.code);
  return { code: isSilent ? 'SERVICE_UNREACHABLE' : 'SERVICE_REFUSED', message };
}
