import PQueue from 'p-queue';

const PARALLEL = 8;

/**
 * Moves files, a few at once. A failure is thrown when nothing is under way any more, and what had not begun until then
 * never does: whoever tries again would otherwise write beside what is left of the first try.
 */
export async function forEachFile<T>(files: Iterable<T>, move: (file: T) => Promise<void>): Promise<void> {
  const queue = new PQueue({ concurrency: PARALLEL });
  let failure: { readonly error: unknown } | undefined;
  for (const file of files) {
    void queue.add(async () => {
      try {
        await move(file);
      } catch (error) {
        failure ??= { error };
        queue.clear();
      }
    });
  }
  await queue.onIdle();
  if (failure) throw failure.error;
}
