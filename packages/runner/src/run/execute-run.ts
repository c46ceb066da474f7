import type { InstanceType } from '@sluice/client';
import type { Plan } from '@sluice/core';
import PQueue from 'p-queue';
import { createRunCache } from '../cache/run-cache.ts';
import { createLogArchive } from '../data/archive-log.ts';
import { deliverOutputs } from '../data/deliver-outputs.ts';
import { createAttemptPreparation } from '../data/prepare-attempt.ts';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import { warnOfEmptyOutputs } from '../data/warn-of-empty-outputs.ts';
import { keepEnd } from '../finish/keep-end.ts';
import { notify } from '../finish/notify.ts';
import type { Disk } from '../journal/disk.ts';
import type { OpenJournal } from '../journal/open-journal.ts';
import { createPoolClaims } from '../pools/pool-claims.ts';
import { isDiskError } from '../record/disk-error.ts';
import type { MoveListener } from '../record/replay-run.ts';
import type { RunFacts } from '../record/run-facts.ts';
import { stepIndex } from '../record/step-context.ts';
import { createReport } from '../report/create-report.ts';
import { endMessage } from '../report/end-message.ts';
import type { RunReport } from '../report/run-report.ts';
import type { RunStatus } from '../scheduler/command.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { createAbsenceLimit } from '../session/absence-limit.ts';
import { createCellReporter } from '../session/cell-reporter.ts';
import { createRedactor } from '../session/create-redactor.ts';
import { reportStuck } from '../session/report-stuck.ts';
import type { RunHandle, RunnerOptions } from '../session/run-options.ts';
import type { RunSession } from '../session/run-session.ts';
import { createSubmitter } from '../submission/submitter.ts';
import { watchStorage } from '../submission/watch-storage.ts';
import { watchLogin } from '../watch/watch-login.ts';
import { watchReadiness } from '../watch/watch-readiness.ts';
import { watchServiceHold } from '../watch/watch-service-hold.ts';
import { createWatcher } from '../watch/watcher.ts';
import { adoptAttempts } from './adopt-attempts.ts';
import { forgetWake, performCommand } from './perform-command.ts';
import { probeUrl } from './probe-url.ts';
import { createRunLoop, type RunLoop } from './run-loop.ts';
import { waitsForPeople } from './waits-for-people.ts';

/** A run whose journal is open and that is provisioned. */
export interface ExecuteOptions {
  readonly options: RunnerOptions & { readonly clock: RunSession['clock']; readonly disk: Disk };
  readonly directory: string;
  readonly plan: Plan;
  readonly opened: OpenJournal;
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
  readonly moves: MoveListener;
  readonly instanceTypes: readonly InstanceType[];
  readonly workspace: WorkspaceFiles;
  readonly resumed: boolean;
  readonly cancelBy?: string | undefined;
}

/** Calls to the service at once. */
const MAX_CALLS = 32;

/** Drives a run until it is over, let go of, or cannot go on. What must be asked first has been asked when it resolves. */
export async function executeRun(start: ExecuteOptions): Promise<RunHandle> {
  const { facts, scheduler, plan, directory, opened } = start;
  const { disk } = start.options;
  let settle: { resolve: (report: RunReport) => void; reject: (error: unknown) => void };
  const finished = new Promise<RunReport>((resolve, reject) => {
    settle = { resolve, reject };
  });
  let closing: Promise<void> | undefined;
  /** Set when the end of the run is durable. */
  let ended: RunReport | undefined;

  /** Lets go of everything once; what `finished` becomes is up to whoever comes first. */
  function close(conclude: () => void): Promise<void> {
    closing ??= (async () => {
      loop.stop();
      watcher.stop();
      stopServiceWatch();
      pools.stop();
      forgetWake(session);
      await opened.release().catch(() => {});
      conclude();
    })();
    return closing;
  }

  function suspend(message: string): Promise<void> {
    return close(() => settle.resolve(createReport({ facts, scheduler, directory }, 'suspended', message)));
  }

  /** After the turn's effects, one of which asks the person. */
  async function leaveForPeople(): Promise<void> {
    await session.durable();
    if (waitsForPeople(scheduler)) await suspend('all remaining steps wait for approval');
  }

  function stopFor(error: unknown): void {
    if (closing) return;
    if (!isDiskError(error)) void close(() => settle.reject(error));
    else if (ended) void concludeInFullDisk(ended, (error as Error).message);
    else void suspend((error as Error).message);
  }

  function conclude(report: RunReport): Promise<void> {
    if (closing) return closing;
    session.report({ type: 'runFinished', at: session.clock.now(), report });
    return close(() => settle.resolve(report));
  }

  /** The end is in the journal: whatever else could not be kept, the run is over as it is. */
  function concludeInFullDisk(report: RunReport, why: string): Promise<void> {
    const message = `could not store the report of the finished run ${report.runId}: ${why}`;
    session.report({ type: 'warning', at: session.clock.now(), message });
    return conclude(report);
  }

  async function finish(status: RunStatus): Promise<void> {
    await archive.idle();
    await cache.idle();
    const rest = preparation.finish();
    if (rest) await rest;
    const looked = status === 'succeeded' ? warnOfEmptyOutputs(session, start.workspace) : undefined;
    if (looked) await looked;
    const delivery = await deliverOutputs(session, start.workspace);
    session.note({ kind: 'delivered', at: session.clock.now(), ...delivery });
    await notify(session, status, start.options.notifier);
    session.note({ kind: 'finished', at: session.clock.now(), status });
    await session.durable();
    const report = createReport({ facts, scheduler, directory }, status, endMessage(facts, status));
    ended = report;
    await pools.close();
    await keepEnd({ disk, home: session.home, directory, facts, scheduler }, { report, now: session.clock.now() });
    await conclude(report);
  }

  const session = createSession(start, {
    loop: () => loop,
    fail: stopFor,
    suspend: (message) => void suspend(message),
  });
  const watcher = createWatcher(session);
  const stopServiceWatch = watchServiceHold(session);
  const cache = createRunCache(session, start.workspace);
  const archive = createLogArchive(session);
  const cellReporter = createCellReporter(session, start.moves);
  const pools = createPoolClaims(session);
  const preparation = createAttemptPreparation(session, start);
  const parts = {
    submitter: createSubmitter(session, {
      watcher,
      instanceTypes: start.instanceTypes,
      prepareAttempt: preparation.prepare,
      pools,
    }),
    cache,
    workspace: start.workspace,
    guard: preparation.guard,
    finish: ({ status }: { status: RunStatus }) => void finish(status).catch(stopFor),
  };
  const loop: RunLoop = createRunLoop({
    clock: session.clock,
    scheduler,
    facts,
    journal: opened.journal,
    redact: (record) => session.redactor.record(record),
    perform: (command) => performCommand(session, parts, command),
    onHandled(event) {
      archive.onEvent(event);
      cache.onEvent(event);
      pools.onEvent(event);
      preparation.onEvent(event);
      watchReadiness(session, start.workspace, event);
    },
    onTurn() {
      cellReporter.flush();
      reportStuck(session);
      if (start.options.leavesForPeople && waitsForPeople(scheduler)) void leaveForPeople().catch(stopFor);
    },
    onFailure: stopFor,
  });

  try {
    await cache.open();
    cellReporter.runStarted(start.resumed);
    // A crash may have left the run's first record without the event that begins it.
    if (facts.startedAt === 0) session.post({ type: 'started', at: session.clock.now() });
    if (start.resumed) {
      // What still asks when the run is let go of, for a login that is over or a newer runner, is never answered.
      const taken = await Promise.race([adoptAttempts(session, watcher), finished.then(() => [])]);
      if (start.cancelBy !== undefined)
        session.post({ type: 'cancelRequested', at: session.clock.now(), by: start.cancelBy });
      if (!session.stopped) {
        loop.absorb();
        await pools.restore();
      }
      for (const event of taken) watchReadiness(session, start.workspace, event);
    }
  } catch (error) {
    // Whoever tries again in this process must not do so beside what listens and waits for this try.
    await close(() => {});
    throw error;
  }
  if (!session.stopped) loop.begin();
  /** Approvals whose answer has been taken, maybe not handled yet: the first one counts. */
  const answered = new Set<number>();
  return {
    runId: session.runId,
    directory,
    finished,
    cancel: (by) => session.post({ type: 'cancelRequested', at: session.clock.now(), by }),
    detach: () => suspend('detached from the run; its containers keep running'),
    approve(name, { approved, by }) {
      const step = stepIndex(plan, name);
      if (step === undefined || answered.has(step) || scheduler.state(step) !== 'awaitingApproval') return false;
      answered.add(step);
      session.post({ type: 'approved', at: session.clock.now(), step, approved, by });
      return true;
    },
  };
}

/** Distinct warnings that the journal keeps: a run that is warned of more has one cause for most of them. */
const MOST_WARNINGS = 100;

function mayKeep({ finished, warnings }: RunFacts, message: string): boolean {
  const isNew = warnings.every((known) => known.message !== message);
  return finished === undefined && isNew && warnings.length < MOST_WARNINGS;
}

interface Late {
  readonly loop: () => RunLoop;
  readonly fail: (error: unknown) => void;
  readonly suspend: (message: string) => void;
}

function createSession(start: ExecuteOptions, late: Late): RunSession {
  const { options, facts, opened, scheduler, plan, directory } = start;
  const { clock } = opened;
  const header = facts.header!;
  const secrets = options.secrets ?? (() => undefined);
  const redactor = createRedactor(plan, secrets);
  const report: RunSession['report'] = (event) => {
    const shown = redactor.data(event);
    if (shown.type === 'warning' && mayKeep(facts, shown.message)) {
      const { at, message, concerns } = shown;
      late.loop().note({ kind: 'warning', at, message, ...(concerns && { concerns }) });
    }
    options.reporter?.report(shown);
  };
  const warn = (message: string) => report({ type: 'warning', at: clock.now(), message });
  const stored = watchStorage(options.service, (message) => warn(`${message}; the run continues as soon as it can store data again`));
  const service = watchLogin(stored, {
    clock,
    onRefused: warn,
    onLost: (message) => late.suspend(`${message}; the containers keep running: resume the run with a valid login`),
  });
  return {
    runId: header.runId,
    directory,
    home: options.home,
    plan,
    epoch: opened.lease.epoch,
    service,
    clock,
    disk: options.disk,
    facts,
    scheduler,
    resumedAt: start.resumed ? clock.now() : undefined,
    absenceLimit: createAbsenceLimit(header.scheduler.limits?.lostAfterMs),
    calls: new PQueue({ concurrency: MAX_CALLS }),
    secrets,
    redactor,
    probe: options.probe ?? probeUrl,
    report,
    post: (event, beside) => late.loop().post(event, beside),
    note: (record) => late.loop().note(record),
    durable: () => late.loop().durable(),
    ownsLease() {
      if (opened.isNewest()) return true;
      late.suspend('another runner has resumed the run');
      return false;
    },
    fail: late.fail,
    get stopped() {
      return late.loop().stopped;
    },
  };
}
