import { isServiceError, type ServiceError } from '@sluice/client';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';

/** 3 if a later attempt or another login may succeed, else 2. */
export function serviceExitCode(error: ServiceError): ExitCode {
  const mayPass = isServiceError(
    error,
    ...(['UNREACHABLE', 'NO_REPLY', 'INVALID_REPLY', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'UNAUTHENTICATED'] as const),
  );
  return mayPass ? EXIT_CODE.unreachable : EXIT_CODE.rejected;
}
