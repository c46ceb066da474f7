import { isServiceError } from '@sluice/client';

/** Replies that say no, or nothing that can be understood: after so many in a row, some four minutes, they are believed. */
const MOST_REFUSALS = 12;

/** Tells of each error of a service whether it is the last of so many refusals in a row that trying again is in vain. */
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
    return refused >= MOST_REFUSALS;
  };
}
