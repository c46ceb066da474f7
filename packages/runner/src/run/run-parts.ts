import { createRunCache, type RunCache } from '../cache/run-cache.ts';
import { createPoolClaims, type PoolClaims } from '../concurrency/pool-claims.ts';
import { createLogArchive, type LogArchive } from '../data/archive-log.ts';
import { type AttemptPreparation, createAttemptPreparation } from '../data/prepare-attempt.ts';
import { createTemporaryRemoval, type TemporaryRemoval } from '../data/remove-temporary.ts';
import { type CellReporter, createCellReporter } from '../session/cell-reporter.ts';
import type { RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { createSubmitter, type Submitter } from '../submission/submitter.ts';
import { openTraceExport, type TraceExport } from '../trace/export-traces.ts';
import { createSharedPolls } from '../watch/create-shared-polls.ts';
import { watchServiceHold } from '../watch/watch-service-hold.ts';
import { createWatcher, type Watcher } from '../watch/watcher.ts';
import type { ExecuteOptions } from './execute-options.ts';
import { forgetWake } from './perform-command.ts';
import type { RunLife } from './run-life.ts';

/** The parts of the shell that hold resources while a run is executed. */
export interface RunParts {
  readonly watcher: Watcher;
  readonly cache: RunCache;
  readonly archive: LogArchive;
  readonly cellReporter: CellReporter;
  /** Undefined: the pipeline has no temporary outputs. */
  readonly removal: TemporaryRemoval | undefined;
  readonly pools: PoolClaims;
  readonly preparation: AttemptPreparation;
  readonly submitter: Submitter;
  /** Undefined: the run is not sent as a trace. */
  readonly traces: TraceExport | undefined;
}

/** Creates the parts, and registers their release with the life of the run. */
export function createRunParts(session: RunSession, start: ExecuteOptions, life: RunLife): RunParts {
  const watcher = createWatcher(session, start.options.polls ?? createSharedPolls(session.clock));
  life.onRelease(watcher.stop);
  life.onRelease(watchServiceHold(session));
  const pools = createPoolClaims(session);
  life.onRelease(pools.stop);
  life.onRelease(() => forgetWake(session));
  const cache = createRunCache(session, start.workspace);
  const preparation = createAttemptPreparation(session, { ...start, findRemoved: cache.findRemoved });
  const { instanceTypes } = start;
  const traces = openTraces(session, start);
  if (traces) life.onRelease(traces.stop);
  return {
    watcher,
    cache,
    archive: createLogArchive(session, start.workspace),
    cellReporter: createCellReporter(session, start.moves),
    removal: createTemporaryRemoval(session, { workspace: start.workspace, moves: start.moves }),
    pools,
    preparation,
    submitter: createSubmitter(session, { watcher, instanceTypes, preparation, pools }),
    traces,
  };
}

function openTraces(session: RunSession, { options }: ExecuteOptions): TraceExport | undefined {
  const { traces: sink } = options;
  return sink && openTraceExport({ ...session, sink, warn: (message) => warn(session, message) });
}
