import { createRunCache, type RunCache } from '../cache/run-cache.ts';
import { createLogArchive, type LogArchive } from '../data/archive-log.ts';
import { type AttemptPreparation, createAttemptPreparation } from '../data/prepare-attempt.ts';
import { createPoolClaims, type PoolClaims } from '../pools/pool-claims.ts';
import { type CellReporter, createCellReporter } from '../session/cell-reporter.ts';
import type { RunSession } from '../session/run-session.ts';
import { createSubmitter, type Submitter } from '../submission/submitter.ts';
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
  readonly pools: PoolClaims;
  readonly preparation: AttemptPreparation;
  readonly submitter: Submitter;
}

/** Creates the parts, and registers their release with the life of the run. */
export function createRunParts(session: RunSession, start: ExecuteOptions, life: RunLife): RunParts {
  const watcher = createWatcher(session);
  life.onRelease(watcher.stop);
  life.onRelease(watchServiceHold(session));
  const pools = createPoolClaims(session);
  life.onRelease(pools.stop);
  life.onRelease(() => forgetWake(session));
  const preparation = createAttemptPreparation(session, start);
  const { instanceTypes } = start;
  return {
    watcher,
    cache: createRunCache(session, start.workspace),
    archive: createLogArchive(session),
    cellReporter: createCellReporter(session, start.moves),
    pools,
    preparation,
    submitter: createSubmitter(session, { watcher, instanceTypes, prepareAttempt: preparation.prepare, pools }),
  };
}
