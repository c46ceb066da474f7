import { ok, type Result, SluiceError } from '@sluice/core';
import { type FollowRunOptions, followRun, type RunFollower } from '@sluice/home';
import { createReport, endMessage, type Reporter, type RunError, type RunReport } from '@sluice/run';
import { type NumberedOptions, numberEvents } from '../session/number-events.ts';
import { withDefaults } from '../session/run-defaults.ts';
import { createModelEvents } from './model-events.ts';

/** The run to attach to. */
export interface AttachOptions extends FollowRunOptions {
  readonly reporter: Reporter;
  /** Called while no process executes the run: whether one is about to. Default: never. */
  readonly isAwaited?: () => Promise<boolean>;
}

/** A run that this process follows without executing it. */
export interface AttachedRun {
  readonly runId: string;
  /** The run's directory in the home, absolute. */
  readonly directory: string;
  /**
   * Resolves at the end of the run, when no process executes it any more, and after `stop`. Rejects with `SluiceError`
   * if its journal cannot be read.
   */
  readonly finished: Promise<RunReport>;
  /** Stops following the run, which continues. */
  stop(): void;
}

/** How long a run may change hands before it counts as suspended. */
const HANDOVER_MS = 5_000;

/**
 * Reports the events of a run that another process executes, from its journal: first the present status of every cell, as
 * after a resume, then all that follows. Transfers and states of containers are not in the journal. Takes no lock.
 */
export async function attachRun(given: AttachOptions): Promise<Result<AttachedRun, RunError>> {
  const { reporter, isAwaited = async () => false } = given;
  const options = numberEvents({ ...withDefaults(given), reporter }, given.runId);
  const followed = await followRun(options);
  return followed.ok ? ok(follow(followed.value, { ...options, isAwaited })) : followed;
}

type Following = NumberedOptions<Required<AttachOptions>>;

function follow(follower: RunFollower, { clock, report, isAwaited }: Following): AttachedRun {
  let events = createModelEvents(follower, { clock, report });
  let unsubscribe = () => {};
  let cancelTimer = () => {};
  let hasEnded = false;
  let settle: { resolve: (report: RunReport) => void; reject: (error: Error) => void };
  const finished = new Promise<RunReport>((resolve, reject) => {
    settle = { resolve, reject };
  });

  function close(): boolean {
    if (hasEnded) return false;
    hasEnded = true;
    unsubscribe();
    cancelTimer();
    return true;
  }

  function end(): void {
    if (!close()) return;
    const described = describeEnd(follower);
    if (follower.model.facts.finished) report({ type: 'runFinished', at: clock.now(), report: described });
    settle.resolve(described);
  }

  function update(problem?: RunError): void {
    if (hasEnded) return;
    if (problem) {
      if (close()) settle.reject(new SluiceError(problem.code, problem.message));
      return;
    }
    if (events.model !== follower.model) events = createModelEvents(follower, { clock, report });
    events.report();
    cancelTimer();
    if (follower.model.facts.finished) end();
    else if (follower.phase === 'suspended') waitForExecution();
  }

  function waitForExecution(): void {
    cancelTimer = clock.setTimer(clock.now() + HANDOVER_MS, () => {
      void isAwaited().then((isComing) => {
        if (hasEnded || follower.phase !== 'suspended') return;
        if (isComing) waitForExecution();
        else end();
      });
    });
  }

  unsubscribe = follower.subscribe(update);
  update();
  return { runId: follower.runId, directory: follower.directory, finished, stop: end };
}

function describeEnd({ model: { facts, scheduler }, directory, phase }: RunFollower): RunReport {
  return createReport({ facts, scheduler, directory }, phase, endMessage(facts, phase));
}
