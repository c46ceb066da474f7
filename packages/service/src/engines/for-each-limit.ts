/** Enough to hide the latency of storage or a daemon without overloading it. */
const AT_ONCE = 16;

/**
 * Runs `work` for each item, at most 16 concurrently. Rejects with the first failure, after which no more items are started.
 */
export async function forEachLimit<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  let hasFailed = false;
  const lane = async () => {
    for (const item of rest) {
      if (hasFailed) return;
      await work(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
