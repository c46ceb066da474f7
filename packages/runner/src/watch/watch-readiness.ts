import { isServiceError } from '@sluice/client';
import { own } from '@sluice/core';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import { READY_FILE } from '../data/wrap-readiness.ts';
import { attemptPath, attemptReadyPath } from '../record/layout.ts';
import { clusterOfAttempt } from '../record/place-of.ts';
import { urlOf } from '../record/step-context.ts';
import type { AttemptEvent, SchedulerEvent } from '../scheduler/model/event.ts';
import { pause, type RunSession } from '../session/run-session.ts';

const PAUSE_MS = 500;

/** When the container of a service step runs: checks until it is ready, then posts `serviceReady`. */
export function watchReadiness(session: RunSession, workspace: WorkspaceFiles, event: SchedulerEvent): void {
  if (event.type !== 'running') return;
  const { service } = session.plan.steps[event.step]!.step;
  if (!service) return;
  void waitUntilReady(session, workspace, event).catch(session.fail);
}

async function waitUntilReady(session: RunSession, workspace: WorkspaceFiles, at: AttemptEvent): Promise<void> {
  const { step, cell, attempt } = at;
  while (!session.stopped && isRunning(session, at) && !(await isReady(session, workspace, at))) {
    await pause(session, PAUSE_MS);
  }
  session.post({ type: 'serviceReady', at: session.clock.now(), step, cell, attempt });
}

async function isReady(session: RunSession, workspace: WorkspaceFiles, at: AttemptEvent): Promise<boolean> {
  const { service, command, name: step } = session.plan.steps[at.step]!.step;
  const ready = service?.ready;
  if (ready === undefined) return true;
  if ('port' in ready) {
    const port = own(session.facts.known[at.step]?.[at.cell]?.attempts.at(-1)?.container.ports, ready.port);
    const { url } = port ? urlOf(port) : {};
    return url !== undefined && (await session.probe(url + ready.path));
  }
  // An image's own program cannot be started with a check: such a service counts as ready when it runs.
  if (command === undefined) return true;
  const cell = session.facts.cells[at.step]?.[at.cell]?.key ?? '';
  const directory = attemptPath({ runId: session.runId, step, cell, attempt: at.attempt });
  try {
    const files = workspace(clusterOfAttempt(session.facts, at));
    return (await session.calls.add(() => files.stat(`${attemptReadyPath(directory)}/${READY_FILE}`))) !== undefined;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return false;
  }
}

function isRunning(session: RunSession, at: { step: number; cell: number; attempt: number }): boolean {
  const { scheduler } = session;
  return scheduler.state(at.step, at.cell) === 'running' && scheduler.attempt(at.step, at.cell) === at.attempt;
}
