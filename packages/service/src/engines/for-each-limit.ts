/** Enough to hide the time that storage or a daemon takes to answer, and no burden to either. */
const AT_ONCE = 16;

/** Does `work` for each item, several at once. Rejects with the first failure, after which nothing more is begun. */
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
