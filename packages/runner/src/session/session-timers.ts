import type { Clock } from '@sluice/home';

/** The timers of a session, which end with it: one that is left would keep the process alive for nothing. */
export interface SessionTimers {
  /** As that of `Clock`, but `callback` is not called once the session has stopped. */
  readonly setTimer: Clock['setTimer'];
  /** Cancels all timers. */
  end(): void;
}

/** Creates timers by the given clock. */
export function createSessionTimers(
  clock: Pick<Clock, 'setTimer'>,
  session: { readonly stopped: boolean },
): SessionTimers {
  const open = new Set<() => void>();
  let hasEnded = false;
  return {
    setTimer(at, callback) {
      if (hasEnded) return () => {};
      const cancelTimer = clock.setTimer(at, () => {
        open.delete(cancel);
        // It may have stopped without being released yet.
        if (!session.stopped) callback();
      });
      const cancel = () => {
        open.delete(cancel);
        cancelTimer();
      };
      open.add(cancel);
      return cancel;
    },
    end() {
      hasEnded = true;
      for (const cancel of open) cancel();
    },
  };
}
