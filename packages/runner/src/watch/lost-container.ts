import { isTerminalPhase } from '@sluice/client';
import { isOwnContainer } from '../identity/is-own-container.ts';
import type { Attempt, Missing } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';

const LONGEST_STEP_MS = 15_000;
const LOST_AFTER_LOOKS = 4;
/** Where the list cannot be used, a container must be absent for so many times longer: only a run that hangs is worse. */
const LONGER_WITHOUT_LIST = 3;

/** Adds a look that did not find the container. What a gateway may have written does not count beside the service's own. */
export function addMissedLook(
  missing: Missing | undefined,
  { at, found }: { at: number; found: Missing['found'] },
): Missing {
  if (missing && found === 'page' && missing.found !== 'page') return missing;
  if (!missing || (missing.found === 'page' && found !== 'page')) return { last: at, lasted: 0, count: 1, found };
  const step = Math.min(Math.max(at - missing.last, 0), LONGEST_STEP_MS);
  return { last: at, lasted: missing.lasted + step, count: missing.count + 1, found };
}

/**
 * Whether a container is gone for good: not found for longer than any service takes, and absent from the list of
 * everything. Where there is no list, it must be absent for longer, by replies of the service itself.
 */
export async function isLost(session: RunSession, attempt: Attempt, missing: Missing): Promise<boolean> {
  if (missing.count < LOST_AFTER_LOOKS || missing.lasted < session.absenceLimit.ms) return false;
  // What has ended there is not ours, and the list, which says less, adds nothing to that.
  if (missing.found === 'another') return true;
  const isThere = await isListed(session, attempt);
  if (isThere !== undefined) return !isThere;
  return missing.found === 'nothing' && missing.lasted >= session.absenceLimit.ms * LONGER_WITHOUT_LIST;
}

/** Whether the list of everything has the container. Undefined: there is no list. */
export async function isListed({ calls, service }: RunSession, attempt: Attempt): Promise<boolean | undefined> {
  const { clusterID, accountID, id } = attempt.ref;
  try {
    return await calls.add(async () => {
      for await (const item of service.containers.list({ clusterID, accountID }, { all: true })) {
        // Only what has ended can be ruled out: while the ID shows something live, nothing more is started.
        if (item.id === id && (!isTerminalPhase(item.phase ?? '') || isOwnContainer(attempt, item))) return true;
      }
      return false;
    });
  } catch {
    return undefined;
  }
}

const DAY_MS = 86_400_000;
/** So long a service keeps what has ended (protocol, "Limits"). */
const RETENTION_DAYS = 7;

/** Why the container counts as lost, for people. */
export function describeLoss(session: RunSession, { at }: Attempt, { found, lasted }: Missing): string {
  const known = session.facts.known[at.step]?.[at.cell]?.attempts.find(({ attempt }) => attempt === at.attempt);
  const days = Math.floor((session.clock.now() - (known?.submittedAt ?? session.clock.now())) / DAY_MS);
  if (found !== 'another' && days >= RETENTION_DAYS) {
    return `the container is lost: it was started ${days} days ago, and a service keeps ended containers for ${RETENTION_DAYS} days, so its result is unknown`;
  }
  const why = found === 'another' ? 'another container is under its ID' : 'the service no longer knows it';
  return `the container is lost: ${why}, for ${Math.round(lasted / 1000)} s`;
}
