import { constants } from 'node:os';
import type { CommandContext } from './command-context.ts';

/** How long a signal waits for a listener. */
const HOLD_MS = 2_000;

/** Signals that wait for their first listener. */
export interface HeldSignals {
  /** Its first listener for a signal also gets those that came before. */
  readonly context: CommandContext;
  /** Listens to nothing more. */
  release(): void;
}

/**
 * Keeps SIGINT and SIGTERM while a run is started or resumed. The run is recorded before the command has its handle, and a signal
 * in between would end the process as if there were no run. Without a listener in time, or at a second SIGINT, the process exits
 * as by the signal. SIGHUP is ignored.
 */
export function holdSignals(context: CommandContext): HeldSignals {
  const counts = new Map<NodeJS.Signals, number>();
  const listening = new Map<NodeJS.Signals, () => void>();
  let timer: NodeJS.Timeout | undefined;
  const hold = (signal: 'SIGINT' | 'SIGTERM') => {
    const exit = () => context.exit(128 + constants.signals[signal]);
    const count = (counts.get(signal) ?? 0) + 1;
    counts.set(signal, count);
    if (signal === 'SIGINT' && count > 1) exit();
    timer ??= setTimeout(exit, HOLD_MS);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    listening.set(
      signal,
      context.onSignal(signal, () => hold(signal)),
    );
  listening.set(
    'SIGHUP',
    context.onSignal('SIGHUP', () => {}),
  );
  return {
    context: {
      ...context,
      onSignal(signal, listener) {
        const stop = context.onSignal(signal, listener);
        listening.get(signal)?.();
        listening.delete(signal);
        const count = counts.get(signal) ?? 0;
        counts.delete(signal);
        if (counts.size === 0) clearTimeout(timer);
        for (let index = 0; index < count; index++) listener();
        return stop;
      },
    },
    release() {
      clearTimeout(timer);
      for (const stop of listening.values()) stop();
    },
  };
}
