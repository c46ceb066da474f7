import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';

const AT_ONCE = 64;
/** A run that takes longer waits for its concurrency group or for a service, and does not keep others waiting. */
const COUNTED_MS = 2_000;

/** Limits how many runs are resumed at once, so that the first of a thousand starts early. */
export function limitResumes(): <T>(action: () => Promise<T>) => Promise<T> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  return (action) =>
    new Promise((resolve, reject) => {
      void queue.add(async () => {
        const acting = action();
        acting.then(resolve, reject);
        const timeout = new AbortController();
        const counted = delay(COUNTED_MS, undefined, { ref: false, signal: timeout.signal });
        await Promise.race([acting, counted]).catch(() => {});
        timeout.abort();
        await counted.catch(() => {});
      });
    });
}
