import { ApiError } from '../errors/api-error.ts';
import type { OrderParts } from './order-parts.ts';

const RETRY_AFTER_MS = 5000;

/** Throws `ApiError` for another run while the disk of the server has few free inodes: the runs that it has need them. */
export async function rejectShortage({ findInodeShortage }: Pick<OrderParts, 'findInodeShortage'>): Promise<void> {
  const shortage = await findInodeShortage();
  if (shortage === undefined) return;
  const message = `could not accept the run because the server cannot store it: ${shortage}; try again once files there are deleted`;
  throw new ApiError(507, 'STORE_FULL', message).retryAfter(RETRY_AFTER_MS);
}
