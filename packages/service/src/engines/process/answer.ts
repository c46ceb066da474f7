/** A promise that is settled from outside, and that nobody needs to wait for: a rejection unheard is no fault. */
export interface Answer {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

export function createAnswer(): Answer {
  let settle: Omit<Answer, 'promise'> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  if (settle === undefined) throw new Error('could not create an answer: the promise did not run its executor');
  return { promise, ...(settle as Omit<Answer, 'promise'>) };
}
