import { backoffDelay, isServiceError, isTerminalPhase } from '@sluice/client';
import { containerId } from '@sluice/home';
import { type RunFacts, scopeOn } from '@sluice/run';
import type { Attempt } from '../session/attempt.ts';
import { isOwnContainer } from '../session/is-own-container.ts';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { addMissedCheck, isLost } from '../watch/lost-container.ts';

/** Pause between two requests for a container that is ending. */
const BACKOFF = { initialMs: CALL_BACKOFF.initialMs, maxMs: 10_000 };

/** What identifies a container that an adoption has found. */
type Found = Pick<Attempt, 'name' | 'ref' | 'createTime' | 'missing'>;

/**
 * Cancels the containers that an adoption has found and whose steps an adopted run has not reached before its end.
 * Resolves when all of them have ended.
 */
export async function endLeftContainers(session: RunSession): Promise<void> {
  await Promise.all(findLeft(session).map((found) => endContainer(session, found)));
}

/** The newest attempt of each cell, unless the run has its verdict: each earlier attempt ended before it began. */
function findLeft(session: RunSession): Found[] {
  const { facts, runId } = session;
  return Object.entries(facts.adopted ?? {}).flatMap(([key, attempts]) => {
    const attempt = Math.max(...Object.keys(attempts).map(Number));
    const [step = '', cell = ''] = key.split('/');
    if (hasOutcome(facts, { step, cell, attempt })) return [];
    const name = { runId, step, cell, attempt };
    return [{ name, ref: { ...scopeOn(facts, attempts[attempt]!), id: containerId(name) } }];
  });
}

function hasOutcome({ plan, cells, known }: RunFacts, at: { step: string; cell: string; attempt: number }): boolean {
  const step = plan.steps.findIndex((planned) => planned.step.name === at.step);
  const cell = cells[step]?.findIndex(({ key }) => key === at.cell) ?? -1;
  const attempts = known[step]?.[cell]?.attempts ?? [];
  return attempts.some(({ attempt, outcome }) => attempt === at.attempt && outcome !== undefined);
}

async function endContainer(session: RunSession, found: Found): Promise<void> {
  const { calls, service } = session;
  const { ref, name } = found;
  for (let tries = 1; !session.stopped; tries++) {
    try {
      const seen = await calls.add(() => service.containers.get(ref));
      delete found.missing;
      if (isTerminalPhase(seen.phase ?? '') || !isOwnContainer(found, seen)) return;
      const message = `container ${ref.id} of step ${name.step} is canceled: the adopted run ends without this step`;
      warn(session, message);
      await session.durable();
      await calls.add(() => service.containers.cancel(ref));
    } catch (error) {
      if (!isServiceError(error)) throw error;
      if (isServiceError(error, 'NOT_FOUND') && (await isGone(session, found, error.isForeign))) return;
    }
    await pause(session, backoffDelay(BACKOFF, tries));
  }
}

async function isGone(session: RunSession, found: Found, isForeign: boolean): Promise<boolean> {
  const missing = { at: session.clock.now(), found: isForeign ? ('page' as const) : ('nothing' as const) };
  found.missing = addMissedCheck(found.missing, missing);
  return isLost(session, found, found.missing);
}
