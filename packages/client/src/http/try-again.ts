import { type Backoff, backoffDelay } from '../backoff-delay.ts';
import { isServiceError, ServiceError } from '../service-error.ts';
import type { Clock } from './clock.ts';
import { abortedError } from './send-error.ts';

const TRIES = 4;
/** Between attempts of a request, and before the rest of an interrupted download is requested. */
export const BACKOFF: Backoff = { initialMs: 200, maxMs: 5_000 };
/** Longer requested delays are left to the caller: the error reports them. */
const LONGEST_ASKED_WAIT_MS = 30_000;
/** The service's disk is full: users must act, so they are notified now. */
const NO_SPACE = 507;

/**
 * Calls `once` up to four times while it fails with a temporary error. Only for idempotent operations. `doubt` tells
 * whether an earlier attempt may have had an effect.
 */
export async function tryAgain<T>(
  once: (doubt: boolean) => Promise<T>,
  options: { clock: Clock; what: string; signal?: AbortSignal | undefined },
): Promise<T> {
  let doubt = false;
  for (let n = 1; ; n++) {
    try {
      return await once(doubt);
    } catch (error) {
      if (n === TRIES || !isServiceError(error, 'UNREACHABLE', 'NO_REPLY', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED')) {
        throw error;
      }
      if (error.status === NO_SPACE) throw error;
      if (!isServiceError(error, 'UNREACHABLE', 'RESOURCE_EXHAUSTED')) doubt = true;
      const asked = error.retryAfterMs ?? 0;
      if (asked > LONGEST_ASKED_WAIT_MS) throw error;
      await pause(Math.max(asked, backoffDelay({ ...BACKOFF, random: options.clock.random() }, n)), options);
    }
  }
}

/** Sleeps; throws `ABORTED` if the signal is aborted. */
export async function pause(
  ms: number,
  options: { clock: Clock; what: string; signal?: AbortSignal | undefined },
): Promise<void> {
  try {
    await options.clock.sleep(ms, options.signal);
  } catch (error) {
    throw error instanceof ServiceError ? error : abortedError(options.what, error);
  }
}
