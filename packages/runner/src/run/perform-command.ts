import { backoffDelay, isServiceError } from '@sluice/client';
import { cellPath, fail } from '@sluice/core';
import { type Command, clusterOfAttempt, describeApproval, type SchedulerEvent } from '@sluice/run';
import type { RunCache } from '../cache/run-cache.ts';
import { countRejections } from '../data/count-rejections.ts';
import type { InputGuard } from '../data/input-guard.ts';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import { type ListOf, publishAttempt } from '../data/publish-attempt.ts';
import type { Attempt } from '../session/attempt.ts';
import { decideStep } from '../session/decide-step.ts';
import { listItems } from '../session/list-items.ts';
import type { Posted } from '../session/posted.ts';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import type { Submitter } from '../submission/submitter.ts';

/** The parts of the shell that perform commands. */
export interface CommandParts {
  readonly submitter: Submitter;
  readonly cache: RunCache;
  readonly workspace: WorkspaceFiles;
  readonly guard: Pick<InputGuard, 'isNeeded' | 'check'>;
  readonly finish: (command: Extract<Command, { type: 'finish' }>) => void;
}

/** An immediate answer, or the effect to run when the turn is durable. */
export type Performed = Posted | (() => void) | undefined;

/** Passes a command of the scheduler to the part of the shell that performs it. */
export function performCommand(session: RunSession, parts: CommandParts, command: Command): Performed {
  switch (command.type) {
    case 'decide':
      return decideStep(session, { at: session.clock.now(), ...command });
    case 'lookUp':
      return parts.cache.lookUp(command);
    case 'submit':
      return parts.submitter.submit(command);
    case 'publish':
      return publish(session, parts, command);
    case 'cancel':
      return () => parts.submitter.cancel(command);
    case 'askApproval':
      return () => askApproval(session, command);
    case 'wake':
      return () => wake(session, command.at);
    case 'finish':
      return () => parts.finish(command);
  }
}

const wakes = new WeakMap<RunSession, () => void>();

/** Only the latest wake-up counts. */
function wake(session: RunSession, at: number): void {
  wakes.get(session)?.();
  wakes.set(
    session,
    session.clock.setTimer(at, () => session.post({ type: 'tick', at: Math.max(at, session.clock.now()) })),
  );
}

/** Cancels the wake-up, so that nothing keeps the process alive. */
export function forgetWake(session: RunSession): void {
  wakes.get(session)?.();
}

function askApproval(session: RunSession, { step, cell }: { step: number; cell?: number }): void {
  const { name } = session.plan.steps[step]!.step;
  const message = describeApproval(session, step, cell);
  const key = cell === undefined ? undefined : session.facts.cells[step]![cell]!.key;
  session.report({
    type: 'approvalAsked',
    at: session.clock.now(),
    step: name,
    ...(key !== undefined && { cell: key }),
    message,
  });
}

function publish(session: RunSession, parts: CommandParts, at: Attempt['at']): Performed {
  const { step } = session.plan.steps[at.step]!;
  const where = { step: at.step, cell: at.cell, attempt: at.attempt };
  const leavesNothing = Object.keys(step.outputs).length === 0 && Object.keys(step.results).length === 0;
  if (leavesNothing && !parts.guard.isNeeded(at, clusterOfAttempt(session.facts, where))) {
    return { event: { type: 'published', at: session.clock.now(), ...where } };
  }
  return () => void publishFiles(session, parts, where).catch(session.fail);
}

async function publishFiles(session: RunSession, parts: CommandParts, at: Attempt['at']): Promise<void> {
  const { step } = session.plan.steps[at.step]!;
  const cell = session.facts.cells[at.step]?.[at.cell]?.key ?? '';
  const name = { runId: session.runId, step: step.name, cell, attempt: at.attempt };
  const place = cellPath(session.plan, at.step, session.facts.cells[at.step]?.[at.cell]);
  const clusterID = clusterOfAttempt(session.facts, at);
  const { defer } = session.clock;
  const isHopeless = countRejections();
  let listed: ReturnType<typeof listItems> | undefined;
  // Once, because it counts the items, also if the volume has to be asked again.
  const restored = session.facts.known[at.step]?.[at.cell]?.missed?.restores?.results;
  const list: ListOf = (results) => (listed ??= listItems(session, at, restored ?? results));
  for (let tries = 1; !session.stopped; tries++) {
    const held = session.usage.holdResults();
    try {
      const changed = await parts.guard.check(at);
      const published =
        changed === undefined
          ? await session.calls.add(() =>
              publishAttempt(parts.workspace(clusterID), {
                name,
                place,
                step,
                redactor: session.redactor,
                defer,
                held,
                list,
              }),
            )
          : fail(changed);
      if (!published.ok) held.release();
      session.post(...describe(session, at, published));
      return;
    } catch (error) {
      held.release();
      if (!isServiceError(error)) throw error;
      const message = `could not publish ${step.name}: ${error.message}`;
      warn(session, message);
      const pauseMs = backoffDelay(CALL_BACKOFF, tries);
      // Otherwise, a canceled run would not end while the service is unavailable.
      const isGivenUp = session.facts.canceledBy !== undefined && pauseMs === CALL_BACKOFF.maxMs;
      if (isHopeless(error) || isGivenUp) {
        const outcome = { result: 'failed', class: 'infrastructure', message } as const;
        session.post({ type: 'ended', at: session.clock.now(), ...at, outcome });
        return;
      }
      await pause(session, error.retryAfterMs ?? pauseMs);
    }
  }
}

function describe(
  session: RunSession,
  where: Attempt['at'],
  published: Awaited<ReturnType<typeof publishAttempt>>,
): Parameters<RunSession['post']> {
  const at = session.clock.now();
  if (published.ok) {
    const { results, listed } = published.value;
    return [
      { type: 'published', at, ...where, ...listed.event },
      { results, ...listed.facts },
    ];
  }
  const message = `could not publish: ${published.error}`;
  const event: SchedulerEvent = {
    type: 'ended',
    at,
    ...where,
    outcome: { result: 'failed', class: 'failed', message },
  };
  return [event];
}
