const shared = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener` when `signal` is aborted, or immediately if it already is. The caller must call the returned function
 * when it no longer waits. All share one listener of the signal: at the eleventh, Node.js warns of a leak, which a step
 * with 105 cells caused.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => {};
  }
  const listeners = shared.get(signal) ?? share(signal);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function share(signal: AbortSignal): Set<() => void> {
  const listeners = new Set<() => void>();
  shared.set(signal, listeners);
  signal.addEventListener(
    'abort',
    () => {
      for (const listener of listeners) listener();
    },
    { once: true },
  );
  return listeners;
}
