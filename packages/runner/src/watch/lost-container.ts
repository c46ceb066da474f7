import { isSameIncarnation } from '../identity/incarnation.ts';
import type { RunSession } from '../run/run-session.ts';
import type { Attempt, Missing } from '../submission/attempt.ts';

const LOST_AFTER_MS = 60_000;
const LONGEST_STEP_MS = 15_000;
const LOST_AFTER_LOOKS = 4;
/** Where the list cannot be used, a container must be absent for so many times longer: only a run that hangs is worse. */
const LONGER_WITHOUT_LIST = 10;

/** Adds a look that did not find the container. */
export function addMissedLook(
  missing: Missing | undefined,
  { at, found }: { at: number; found: Missing['found'] },
): Missing {
  if (!missing) return { last: at, lasted: 0, count: 1, found };
  const step = Math.min(Math.max(at - missing.last, 0), LONGEST_STEP_MS);
  return { last: at, lasted: missing.lasted + step, count: missing.count + 1, found };
}

/** Whether a container is gone for good: not found repeatedly over a minute, and absent from the list of everything; longer where there is no list. */
export async function isLost(session: RunSession, attempt: Attempt, missing: Missing): Promise<boolean> {
  const { calls, service } = session;
  if (missing.count < LOST_AFTER_LOOKS || missing.lasted < LOST_AFTER_MS) return false;
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
    // The next look asks again.
    return missing.lasted >= LOST_AFTER_MS * LONGER_WITHOUT_LIST;
  }
}

const DAY_MS = 86_400_000;
/** So long a service keeps what has ended (protocol, "Limits"). */
const RETENTION_DAYS = 7;

/** Why the container counts as lost, for people. */
export function describeLoss(session: RunSession, { at }: Attempt, { found, lasted }: Missing): string {
  const known = session.facts.known[at.step]?.[at.cell]?.attempts.find(({ attempt }) => attempt === at.attempt);
  const days = Math.floor((session.clock.now() - (known?.submittedAt ?? session.clock.now())) / DAY_MS);
  if (found === 'nothing' && days >= RETENTION_DAYS) {
    return `the container is lost: it was started ${days} days ago, and a service keeps what has ended for ${RETENTION_DAYS} days, so nobody knows how it ended`;
  }
  const why = found === 'nothing' ? 'the service does not know it any more' : 'another container is under its ID';
  return `the container is lost: ${why}, for ${Math.round(lasted / 1000)} s`;
}
