import { isTerminalPhase } from '@sluice/client';
import type { Attempt, Missing } from '../session/attempt.ts';
import { isOwnContainer } from '../session/is-own-container.ts';
import type { RunSession } from '../session/run-session.ts';

const LONGEST_STEP_MS = 15_000;
const LOST_AFTER_CHECKS = 4;
/** Without a list, a container must be absent this many times longer: only a run that hangs would be worse. */
const LONGER_WITHOUT_LIST = 3;

/** What identifies the container of an attempt in a list. */
type ListedAttempt = Pick<Attempt, 'name' | 'ref' | 'createTime'>;

/**
 * Adds a check that did not find the container. Replies that a gateway may have written do not count if the service
 * itself has replied.
 */
export function addMissedCheck(
  missing: Missing | undefined,
  { at, found }: { at: number; found: Missing['found'] },
): Missing {
  if (missing && found === 'page' && missing.found !== 'page') return missing;
  if (!missing || (missing.found === 'page' && found !== 'page')) return { last: at, lasted: 0, count: 1, found };
  const step = Math.min(Math.max(at - missing.last, 0), LONGEST_STEP_MS);
  return { last: at, lasted: missing.lasted + step, count: missing.count + 1, found };
}

/**
 * Whether a container is lost: not found for longer than any service needs, and absent from the list of all. Without a
 * list, it must be absent for longer, by replies of the service itself.
 */
export async function isLost(session: RunSession, attempt: ListedAttempt, missing: Missing): Promise<boolean> {
  if (missing.count < LOST_AFTER_CHECKS || missing.lasted < session.absenceLimit.ms) return false;
  // The ended container under the ID is not ours, and the list, which has no labels, cannot add to that.
  if (missing.found === 'another') return true;
  const isThere = await isListed(session, attempt);
  if (isThere !== undefined) return !isThere;
  return missing.found === 'nothing' && missing.lasted >= session.absenceLimit.ms * LONGER_WITHOUT_LIST;
}

/** Whether the list of all contains the container. Undefined: there is no list. */
export async function isListed({ calls, service }: RunSession, attempt: ListedAttempt): Promise<boolean | undefined> {
  const { clusterID, accountID, id } = attempt.ref;
  try {
    return await calls.add(async () => {
      for await (const item of service.containers.list({ clusterID, accountID }, { all: true })) {
        // Only ended containers can be excluded: while a live one exists under the ID, nothing more is started.
        if (item.id === id && (!isTerminalPhase(item.phase ?? '') || isOwnContainer(attempt, item))) return true;
      }
      return false;
    });
  } catch {
    return undefined;
  }
}

const DAY_MS = 86_400_000;
/** How long a service keeps ended containers (protocol, "Limits"). */
const RETENTION_DAYS = 7;

/** Why the container counts as lost, as a message. */
export function describeLoss(session: RunSession, { at }: Attempt, { found, lasted }: Missing): string {
  const known = session.facts.known[at.step]?.[at.cell]?.attempts.find(({ attempt }) => attempt === at.attempt);
  const days = Math.floor((session.clock.now() - (known?.submittedAt ?? session.clock.now())) / DAY_MS);
  if (found !== 'another' && days >= RETENTION_DAYS) {
    return `the container is lost: it was started ${days} days ago, and a service keeps ended containers for ${RETENTION_DAYS} days, so its result is unknown`;
  }
  const why = found === 'another' ? 'another container is under its ID' : 'the service no longer knows it';
  return `the container is lost: ${why}, for ${Math.round(lasted / 1000)} s`;
}
