import { isServiceError } from '@sluice/client';

/** After this many rejected or invalid replies in a row, about four minutes, the operation is not retried. */
const MAX_REJECTIONS = 12;

/** Creates a function that receives each error of a service and returns whether the limit of rejections is reached. */
export function countRejections(): (error: unknown) => boolean {
  let rejected = 0;
  return (error) => {
    const isRejection = isServiceError(
      error,
      'INVALID_REPLY',
      'INVALID_ARGUMENT',
      'PERMISSION_DENIED',
      'FAILED_PRECONDITION',
    );
    rejected = isRejection ? rejected + 1 : 0;
    return rejected >= MAX_REJECTIONS;
  };
}
