import { type Attempt, refKey } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import type { RunPolls, SharedPolls } from '../session/shared-polls.ts';
import { createTransientMap } from '../session/transient-map.ts';
import { type CheckContainer, createContainerCheck } from './check-container.ts';

/** Tracks the containers of a run until each has ended. */
export interface Watcher {
  /** Tracks an attempt from now on; call it before the container can exist, so that no hint is lost. */
  track(attempt: Attempt): void;
  /** Checks one container now; resolves when the answer has been handled. False: the service does not answer. */
  readonly check: CheckContainer;
  /** The attempt that a command refers to, while it is tracked. */
  find(at: Attempt['at']): Attempt | undefined;
  stop(): void;
}

/** Takes part in the polls of every account in which the run has containers. */
export function createWatcher(session: RunSession, shared: SharedPolls): Watcher {
  const byCell = createTransientMap<Attempt>();
  const byAccount = new Map<string, RunPolls>();
  const check = createContainerCheck(session, {
    pollsOf,
    onClosed: (attempt) => pollsOf(attempt).remove(attempt),
  });

  function pollsOf({ ref }: Attempt): RunPolls {
    const key = refKey({ ...ref, id: '' });
    const known = byAccount.get(key);
    if (known) return known;
    const { clusterID, accountID } = ref;
    const joined = shared.join({ session, check, onRemoved: forget }, { clusterID, accountID });
    byAccount.set(key, joined);
    return joined;
  }

  function forget(attempt: Attempt): void {
    if (byCell.get(cellKey(attempt.at)) === attempt) byCell.delete(cellKey(attempt.at));
  }

  return {
    track(attempt) {
      byCell.set(cellKey(attempt.at), attempt);
      pollsOf(attempt).add(attempt);
    },
    check,
    find(at) {
      const attempt = byCell.get(cellKey(at));
      return attempt?.at.attempt === at.attempt ? attempt : undefined;
    },
    stop() {
      for (const polls of byAccount.values()) polls.leave();
    },
  };
}

function cellKey({ step, cell }: Attempt['at']): string {
  return `${step}/${cell}`;
}
