import { isSameIncarnation } from '../identity/incarnation.ts';
import type { RunSession } from '../run/run-session.ts';
import type { Attempt } from '../submission/attempt.ts';

/** Looks that found nothing since the last that found the container. */
export interface Missing {
  first: number;
  /** What the last look found: nothing, or somebody else's container under the same ID. */
  found: 'nothing' | 'another';
  count: number;
}

const LOST_AFTER_MS = 60_000;
const LOST_AFTER_LOOKS = 4;

/** Whether a container is gone for good: not found repeatedly over a minute, and absent from the list of everything. */
export async function isLost(session: RunSession, attempt: Attempt, missing: Missing): Promise<boolean> {
  const { clock, calls, service } = session;
  if (missing.count < LOST_AFTER_LOOKS || clock.now() - missing.first < LOST_AFTER_MS) return false;
  // Who is there now cannot be ours, and the list, which says less, adds nothing to that.
  if (missing.found === 'another') return true;
  const { clusterID, accountID, id } = attempt.ref;
  try {
    return await calls.add(async () => {
      for await (const item of service.containers.list({ clusterID, accountID }, { all: true })) {
        // Another incarnation under the same ID is somebody else's, and no sign of ours.
        if (item.id === id && isSameIncarnation(attempt.incarnation, item)) return false;
      }
      return true;
    });
  } catch {
    // No list, no verdict: the next look asks again.
    return false;
  }
}
