/** A promise that is settled from outside. A rejection that nothing waits for is not reported. */
export interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

export function createDeferred(): Deferred {
  let settle: Omit<Deferred, 'promise'> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  if (settle === undefined) throw new Error('could not create a deferred: the promise did not run its executor');
  return { promise, ...(settle as Omit<Deferred, 'promise'>) };
}
