import { isServiceError } from '@sluice/client';

/** After this many rejected or invalid replies in a row, about four minutes, the operation is not retried. */
const MAX_REFUSALS = 12;

/** Creates a function that receives each error of a service and returns whether the limit of refusals is reached. */
export function countRefusals(): (error: unknown) => boolean {
  let refused = 0;
  return (error) => {
    const isRefusal = isServiceError(
      error,
      'INVALID_REPLY',
      'INVALID_ARGUMENT',
      'PERMISSION_DENIED',
      'FAILED_PRECONDITION',
    );
    refused = isRefusal ? refused + 1 : 0;
    return refused >= MAX_REFUSALS;
  };
}
