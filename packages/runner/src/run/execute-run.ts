import { findLastTime, summarize, writeSummary } from '@sluice/home';
import { createReport } from '@sluice/run';
import { reportStuck } from '../session/report-stuck.ts';
import type { RunHandle } from '../session/run-options.ts';
import type { RunSession } from '../session/run-session.ts';
import { watchReadiness } from '../watch/watch-readiness.ts';
import { adoptAttempts } from './adopt-attempts.ts';
import { createRunRedactor, createSession } from './create-session.ts';
import type { ExecuteOptions } from './execute-options.ts';
import { finishRun } from './finish-run.ts';
import { performCommand } from './perform-command.ts';
import { createRunHandle } from './run-handle.ts';
import { createRunLife, type RunLife } from './run-life.ts';
import { createRunLoop, type LoopHandlers, type RunLoop } from './run-loop.ts';
import { createRunParts, type RunParts } from './run-parts.ts';
import { waitsForPeople } from './waits-for-people.ts';
import { warnOfClusters } from './warn-of-clusters.ts';

/** A run whose parts are wired. */
interface WiredRun extends ExecuteOptions {
  readonly session: RunSession;
  readonly life: RunLife;
  readonly loop: RunLoop;
  readonly parts: RunParts;
}

/**
 * Executes a run until it has finished, is suspended, or cannot continue. When the promise resolves, the service has
 * been queried for everything that an earlier runner may have left.
 */
export async function executeRun(start: ExecuteOptions): Promise<RunHandle> {
  const run = wireRun(start);
  const { session, life, loop } = run;
  try {
    await recoverRun(run);
  } catch (error) {
    // A second attempt in this process must not find resources that this one has opened.
    await life.abandon();
    throw error;
  }
  if (!session.stopped) {
    loop.begin();
    run.parts.traces?.start();
  }
  return createRunHandle(session, life, loop);
}

/** Creates the parts, each from those before it. Only the loop is given its handlers later, since all of them post to it. */
function wireRun(start: ExecuteOptions): WiredRun {
  const { facts, scheduler, directory, opened } = start;
  const redactor = createRunRedactor(start);
  const life = createRunLife((message) => {
    session.report({ type: 'runSuspended', at: opened.clock.now(), message });
    return createReport({ facts, scheduler, directory }, 'suspended', message);
  });
  const redact = redactor.record;
  const { clock, journal } = opened;
  const loop = createRunLoop({ clock, scheduler, facts, journal, redact, onFailure: life.fail });
  life.onRelease(loop.stop);
  const session = createSession(start, { loop, life, redactor });
  const parts = createRunParts(session, start, life);
  // Otherwise a suspended run could lose its last successes when the process exits.
  life.onRelease(() => parts.cache.idle());
  life.onRelease(() => opened.release().catch(() => {}));
  life.onFinished((report, unstored) => {
    parts.cellReporter.flushAll();
    const at = session.clock.now();
    const message = `could not store the report of the finished run ${report.runId}: ${unstored}`;
    if (unstored !== undefined) session.report({ type: 'warning', at, message });
    session.report({ type: 'runFinished', at, report });
  });
  const run = { ...start, session, life, loop, parts };
  loop.attach(createHandlers(run));
  return run;
}

function createHandlers(run: WiredRun): LoopHandlers {
  const { session, life, parts, workspace, scheduler } = run;
  const { archive, cache, pools, preparation } = parts;
  const commandParts = {
    submitter: parts.submitter,
    cache,
    workspace,
    guard: preparation.guard,
    finish: ({ status }: { status: Parameters<typeof finishRun>[2] }) =>
      void finishRun(session, { ...parts, life, start: run }, status).catch(life.fail),
  };
  return {
    perform: (command) => performCommand(session, commandParts, command),
    onHandled(event) {
      archive.onEvent(event);
      cache.onEvent(event);
      pools.onEvent(event);
      preparation.onEvent(event);
      watchReadiness(session, workspace, event);
    },
    onTurn() {
      parts.cellReporter.flush();
      parts.removal?.onTurn();
      reportStuck(session);
      if (run.options.leavesForPeople && waitsForPeople(scheduler)) void leaveForPeople(run).catch(life.fail);
    },
  };
}

/** Called after the turn's effects, one of which requests the approval. */
async function leaveForPeople({ session, life, scheduler }: WiredRun): Promise<void> {
  await session.durable();
  if (waitsForPeople(scheduler)) await life.suspend('all remaining steps wait for approval');
}

/**
 * Recovers the state in which the loop can begin: a resumed run queries the service for what has happened meanwhile.
 */
async function recoverRun({ session, life, loop, parts, facts, workspace, ...start }: WiredRun): Promise<void> {
  await parts.cache.open();
  parts.cellReporter.runStarted(start.resumed);
  // A crash may have left the run's first record without the event that begins it.
  if (facts.startedAt === 0) {
    const at = start.resumed ? session.clock.now() : facts.header!.at;
    session.post({ type: 'started', at });
    if (start.resumed) await writeSummary(session.disk, session.directory, { ...summarize(facts), startedAt: at });
  }
  if (!start.resumed) return warnOfClusters(session, start.instanceTypes);
  // If the run is suspended meanwhile (login rejected, newer runner), the queries still in flight are never answered.
  const adopting = adoptAttempts(session, parts.watcher, findLastTime(start.opened.records));
  const running = await Promise.race([adopting, life.finished.then(() => [])]);
  parts.removal?.repeat();
  if (start.cancelBy !== undefined)
    session.post({ type: 'cancelRequested', at: session.clock.now(), by: start.cancelBy });
  if (!session.stopped) {
    loop.absorb();
    await parts.pools.restore();
  }
  for (const event of running) watchReadiness(session, workspace, event);
}
