import type { RunFacts } from '@sluice/run';
import PQueue from 'p-queue';
import { createAbsenceLimit } from '../session/absence-limit.ts';
import { createRedactor, type Redactor } from '../session/create-redactor.ts';
import type { RunSession } from '../session/run-session.ts';
import { createRunUsage } from '../session/run-usage.ts';
import { createSessionTimers } from '../session/session-timers.ts';
import { watchStorage } from '../submission/watch-storage.ts';
import { watchLogin } from '../watch/watch-login.ts';
import type { ExecuteOptions } from './execute-options.ts';
import { probeUrl } from './probe-url.ts';
import { recordRequests } from './record-requests.ts';
import type { RunLife } from './run-life.ts';
import type { RunLoop } from './run-loop.ts';

/** Concurrent calls to the service. */
const MAX_CALLS = 32;

/** Distinct warnings that the journal keeps: if a run has more, most of them have one cause. */
const MAX_WARNINGS = 100;

/** What the session is wired to. */
interface SessionParts {
  readonly loop: RunLoop;
  readonly life: RunLife;
  readonly redactor: Redactor;
}

/** Creates what the parts of the shell share while this process executes the run. */
export function createSession(start: ExecuteOptions, { loop, life, redactor }: SessionParts): RunSession {
  const { options, facts, opened, scheduler, plan, directory } = start;
  const { clock } = opened;
  const header = facts.header!;
  const timers = createSessionTimers(clock, loop);
  life.onRelease(timers.end);
  const report = createReport(start, { loop, redactor });
  const warn = (message: string) => report({ type: 'warning', at: clock.now(), message });
  const recorded = recordRequests(options.service, { clock, facts, loop });
  const forget = options.service.onFailure?.(
    ({ message }) => void life.suspend(`${message}; the containers keep running, and no other step starts`),
  );
  life.onRelease(() => forget?.());
  const stored = watchStorage(recorded, (message) =>
    warn(`${message}; the run continues as soon as it can store data again`),
  );
  const service = watchLogin(stored, {
    clock,
    onRejected: warn,
    onLost: (message) =>
      void life.suspend(`${message}; the containers keep running: resume the run with a valid login`),
  });
  return {
    runId: header.runId,
    directory,
    home: options.home,
    plan,
    epoch: opened.lease.epoch,
    service,
    clock,
    setTimer: timers.setTimer,
    disk: options.disk,
    facts,
    scheduler,
    resumedAt: start.resumed ? clock.now() : undefined,
    absenceLimit: createAbsenceLimit(header.scheduler.limits?.lostAfterMs),
    calls: new PQueue({ concurrency: MAX_CALLS }),
    secrets: options.readSecret,
    redactor,
    probe: options.probe ?? probeUrl,
    usage: createRunUsage(facts, options.allowance),
    isTraced: options.traces !== undefined,
    report,
    post: loop.post,
    note: loop.note,
    durable: loop.durable,
    ownsLease() {
      const loss = opened.findLoss();
      if (loss !== undefined) void life.suspend(loss);
      return loss === undefined;
    },
    fail: life.fail,
    get stopped() {
      return loop.stopped;
    },
  };
}

/** The redactor of a run's secrets, which the loop also uses. */
export function createRunRedactor(start: ExecuteOptions): Redactor {
  return createRedactor(start.plan, start.options.readSecret);
}

/** Reports events without secrets, and keeps the warnings among them in the journal. */
function createReport(
  { options, facts }: ExecuteOptions,
  { loop, redactor }: Pick<SessionParts, 'loop' | 'redactor'>,
): RunSession['report'] {
  return (event) => {
    const shown = redactor.data(event);
    if (shown.type === 'warning' && mayKeep(facts, shown.message)) {
      const { at, message, concerns } = shown;
      loop.note({ kind: 'warning', at, message, ...(concerns && { concerns }) });
      // What a run that waits is warned of explains it to other processes, and nothing else may be written for long.
      void loop.durable();
    }
    options.report(shown);
  };
}

function mayKeep({ finished, warnings }: RunFacts, message: string): boolean {
  const isNew = warnings.every((known) => known.message !== message);
  return finished === undefined && isNew && warnings.length < MAX_WARNINGS;
}
