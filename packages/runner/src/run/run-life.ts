import { isDiskError } from '@sluice/home';
import type { RunReport } from '@sluice/run';

/**
 * Where an execution of a run is in its life:
 *
 * - `running`: the loop takes events.
 * - `finishing`: the end is durable, and the report is being stored.
 * - `suspending`, `finished`, `failed`: everything is being released. The outcome is decided: what comes later changes
 *   nothing.
 */
type LifeState = 'running' | 'finishing' | 'suspending' | 'finished' | 'failed';
type LifeCause = 'ended' | 'concluded' | 'suspended' | 'diskFailed' | 'errored';

/** The transitions. A cause that is not listed for a state changes nothing. */
const TRANSITIONS: Readonly<Record<LifeState, Readonly<Partial<Record<LifeCause, LifeState>>>>> = {
  // After a full disk, the run can be resumed.
  running: { ended: 'finishing', suspended: 'suspending', diskFailed: 'suspending', errored: 'failed' },
  // The journal contains the end: a full disk does not change it.
  finishing: { concluded: 'finished', suspended: 'suspending', diskFailed: 'finished', errored: 'failed' },
  suspending: {},
  finished: {},
  failed: {},
};

/** The life of a run in this process, from its wiring to the release of all resources. */
export interface RunLife {
  /** Resolves when everything is released, with the report of the run's end or of its suspension. Rejects for a bug. */
  readonly finished: Promise<RunReport>;
  /** Registers a resource to release at the end. */
  onRelease(release: () => unknown): void;
  /** Registers the listener for the end; `unstored` says why the report could not be stored. At most one. */
  onFinished(announce: (report: RunReport, unstored: string | undefined) => void): void;
  /** The end is in the journal. */
  end(report: RunReport): void;
  /**
   * Stores the report. A caller that leaves the run meanwhile waits for it, so that nothing is written after the release. If
   * the run was left before, nothing is stored: the next resume does it.
   */
  store(write: () => Promise<void>): Promise<void>;
  /** The report is stored: the run has finished. */
  conclude(): Promise<void>;
  /** Leaves the run so that it can be resumed. Resolves when everything is released. */
  suspend(message: string): Promise<void>;
  /** Ends the execution for an error: a full or broken disk suspends the run, anything else is a bug. */
  fail(error: unknown): void;
  /** Releases everything without an outcome: the run could not be wired, and its caller reports why. */
  abandon(): Promise<void>;
}

/** `reportSuspended` creates the report of a run that is suspended. */
export function createRunLife(reportSuspended: (message: string) => RunReport): RunLife {
  const releases = createReleases();
  const { promise: finished, resolve, reject } = createSettlement();
  let state: LifeState = 'running';
  let ended: RunReport | undefined;
  let announce: (report: RunReport, unstored: string | undefined) => void = () => {};

  function move(cause: LifeCause): LifeState | undefined {
    const next = TRANSITIONS[state][cause];
    state = next ?? state;
    return next;
  }

  function finish(unstored?: string): Promise<void> {
    const report = ended!;
    announce(report, unstored);
    return releases.close(() => resolve(report));
  }

  const suspend = (message: string) =>
    releases.close(() => {
      try {
        resolve(reportSuspended(message));
      } catch (error) {
        reject(error);
      }
    });

  return {
    finished,
    onRelease: releases.add,
    onFinished(listener) {
      announce = listener;
    },
    end(report) {
      if (move('ended')) ended = report;
    },
    async store(write) {
      // A disk that failed for something else leaves the run `finished`, and may take the report.
      if (state === 'finishing' || state === 'finished') await releases.store(write);
    },
    async conclude() {
      await (move('concluded') ? finish() : releases.closing());
    },
    async suspend(message) {
      await (move('suspended') ? suspend(message) : releases.closing());
    },
    fail(error) {
      const isDisk = isDiskError(error);
      const next = move(isDisk ? 'diskFailed' : 'errored');
      if (next === 'finished') void finish((error as Error).message);
      else if (next === 'suspending') void suspend((error as Error).message);
      else if (next === 'failed') void releases.close(() => reject(error));
    },
    async abandon() {
      state = 'failed';
      await releases.close(() => {});
    },
  };
}

/** What is released when a process leaves a run. */
function createReleases() {
  const releases: (() => unknown)[] = [];
  let storing: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  return {
    add: (release: () => unknown) => void releases.push(release),
    closing: () => closing,
    /** `close` waits for it. */
    async store(write: () => Promise<void>): Promise<void> {
      storing = write();
      await storing;
    },
    /** Releases everything once, then settles `finished`. */
    close(settle: () => void): Promise<void> {
      closing ??= (async () => {
        // The caller of `store` handles its error.
        if (storing !== undefined) await storing.catch(() => {});
        await Promise.all(releases.map((release) => release()));
        settle();
      })();
      return closing;
    },
  };
}

function createSettlement() {
  let resolve!: (report: RunReport) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<RunReport>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  return { promise, resolve, reject };
}
