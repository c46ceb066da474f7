import { isServiceError } from '@sluice/client';
import { own, renderDuration } from '@sluice/core';
import {
  type AttemptEvent,
  type AttemptFacts,
  attemptPath,
  attemptReadyPath,
  clusterOfAttempt,
  type SchedulerEvent,
  urlOf,
} from '@sluice/run';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import { READY_FILE } from '../data/wrap-readiness.ts';
import { type Attempt, createAttempt } from '../session/attempt.ts';
import { isOwnContainer } from '../session/is-own-container.ts';
import { pause, type RunSession } from '../session/run-session.ts';

const PAUSE_MS = 500;
/** Most services are ready earlier. */
const WARN_AFTER_MS = 30_000;
/** The limit of a step with neither a limit of its readiness check nor a `timeout`. */
const READY_WITHIN_MS = 600_000;

/**
 * When the container of a service step runs: checks until it is ready, then posts `serviceReady`; or `notReady` if a check
 * fails after its limit, which counts from the recorded start, also in a resumed run.
 */
export function watchReadiness(session: RunSession, workspace: WorkspaceFiles, event: SchedulerEvent): void {
  if (event.type !== 'running') return;
  const { service } = session.plan.steps[event.step]!.step;
  if (!service) return;
  void waitUntilReady(session, workspace, event).catch(session.fail);
}

async function waitUntilReady(session: RunSession, workspace: WorkspaceFiles, at: AttemptEvent): Promise<void> {
  const { step, cell, attempt } = at;
  const { name, service } = session.plan.steps[step]!.step;
  const { timeoutMs } = session.scheduler.values(step, cell);
  const limit = service?.ready?.timeoutMs ?? (timeoutMs === undefined ? READY_WITHIN_MS : Number.POSITIVE_INFINITY);
  const watched = session.clock.now();
  const since = factsOf(session, at)?.runningAt ?? watched;
  // After a resume beyond the limit, one failed check is not enough.
  const end = Math.max(since + limit, watched + Math.min(limit, WARN_AFTER_MS));
  const told = new Set<string>();
  while (!session.stopped && isRunning(session, at)) {
    const reason = await findUnreadiness(session, workspace, at);
    if (reason === undefined) break;
    const now = session.clock.now();
    if (now >= end) {
      const message = `it was not ready within ${renderDuration(limit)}: ${reason}`;
      session.post({ type: 'notReady', at: now, step, cell, attempt, message });
      return;
    }
    if (now - watched >= WARN_AFTER_MS && isRunning(session, at) && !told.has(reason)) {
      told.add(reason);
      const message = `service step ${name} is not ready after ${Math.round((now - since) / 1000)} s: ${reason}; its dependents wait, and it is asked again`;
      session.report({ type: 'warning', at: now, message, concerns: 'service' });
    }
    await pause(session, PAUSE_MS);
  }
  session.post({ type: 'serviceReady', at: session.clock.now(), step, cell, attempt });
}

/** Why it is not ready; undefined if it is. */
async function findUnreadiness(
  session: RunSession,
  workspace: WorkspaceFiles,
  at: AttemptEvent,
): Promise<string | undefined> {
  const { service, command, name: step } = session.plan.steps[at.step]!.step;
  const ready = service?.ready;
  if (ready === undefined) return undefined;
  if ('port' in ready) return findPortFault(session, createAttempt(session, at), ready);
  // An image's own program cannot be started with a check: such a service counts as ready when it runs.
  if (command === undefined) return undefined;
  const cell = session.facts.cells[at.step]?.[at.cell]?.key ?? '';
  const directory = attemptPath({ runId: session.runId, step, cell, attempt: at.attempt });
  try {
    const files = workspace(clusterOfAttempt(session.facts, at));
    const found = await session.calls.add(() => files.stat(`${attemptReadyPath(directory)}/${READY_FILE}`));
    return found === undefined ? 'its readiness command has not succeeded' : undefined;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return error.message;
  }
}

/**
 * The service says where the port is: the author of a run must not choose which addresses a server calls.
 */
async function findPortFault(
  session: RunSession,
  attempt: Attempt,
  ready: { readonly port: string; readonly path: string },
): Promise<string | undefined> {
  try {
    const seen = await session.calls.add(() => session.service.containers.get(attempt.ref));
    const port = isOwnContainer(attempt, seen) ? own(seen.ports, ready.port) : undefined;
    const { url } = urlOf({ port: port?.port, host: port?.https?.host });
    return url === undefined ? `port ${ready.port} has no address yet` : await session.probe(joinPath(url, ready.path));
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return error.message;
  }
}

/** The path never changes the host: after `http://127.0.0.1:80`, `@other` would. */
function joinPath(url: string, path: string): string {
  return path.startsWith('/') ? url + path : `${url}/${path}`;
}

function factsOf({ facts }: RunSession, { step, cell, attempt }: AttemptEvent): AttemptFacts | undefined {
  return facts.known[step]?.[cell]?.attempts.find((known) => known.attempt === attempt);
}

function isRunning(session: RunSession, at: { step: number; cell: number; attempt: number }): boolean {
  const { scheduler } = session;
  return scheduler.state(at.step, at.cell) === 'running' && scheduler.attempt(at.step, at.cell) === at.attempt;
}
