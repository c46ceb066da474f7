/** Performs an action, and no other one with the same key meanwhile; those that wait follow in their order. */
export type Exclusion = <T>(key: string, action: () => Promise<T>) => Promise<T>;

/** Keys exclude each other only within the returned function. */
export function createExclusion(): Exclusion {
  const last = new Map<string, Promise<unknown>>();
  return async (key, action) => {
    const previous = last.get(key);
    const done = (async () => {
      await previous?.catch(() => {});
      return action();
    })();
    last.set(key, done);
    try {
      return await done;
    } finally {
      if (last.get(key) === done) last.delete(key);
    }
  };
}
