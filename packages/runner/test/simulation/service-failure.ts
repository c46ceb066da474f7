import { ServiceError, type ServiceErrorCode } from '@sluice/client';

/** An error as the client reports it. */
export function serviceFailure(code: ServiceErrorCode, message: string, status?: number): ServiceError {
  return new ServiceError(code, message, status === undefined ? {} : { status });
}
