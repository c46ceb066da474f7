import PQueue from 'p-queue';

const PARALLEL = 8;

/**
 * Moves files, several concurrently. After a failure no further file is started, and the error is thrown when none is in
 * progress any more: otherwise a retry could write concurrently with the rest of the first try.
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
