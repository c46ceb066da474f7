/** Limits how many runs are executed at once; the others wait, first in, first out. */
export interface RunSlots {
  isFree(): boolean;
  /** Waits for a slot. Undefined: the signal was aborted before. */
  acquire(signal: AbortSignal): Promise<(() => void) | undefined>;
  /** Starts waiting runs for which there are slots since the maximum was raised. */
  update(): void;
}

/** `maximum` is read at each decision, since a configuration may change. */
export function createRunSlots(maximum: () => number): RunSlots {
  const waiting = new Set<() => void>();
  let used = 0;
  const isFree = () => used < maximum() && waiting.size === 0;
  const update = () => {
    for (const start of waiting) {
      if (used >= maximum()) return;
      start();
    }
  };
  const take = () => {
    used++;
    let isHeld = true;
    return () => {
      if (isHeld) used--;
      isHeld = false;
      update();
    };
  };
  return {
    isFree,
    update,
    acquire(signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      if (isFree()) return Promise.resolve(take());
      return new Promise((resolve) => {
        const settle = (slot: (() => void) | undefined) => {
          waiting.delete(start);
          signal.removeEventListener('abort', leave);
          resolve(slot);
        };
        const start = () => settle(take());
        const leave = () => settle(undefined);
        waiting.add(start);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
  };
}
