import { addToCacheIndex, type CacheEntry, describeSiblings, digestCell } from '@sluice/home';
import { findOrigin, hasSucceeded, placeOf, scopeOn } from '@sluice/run';
import type { RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';

/** Adds the successes of a run to the home's cache index. */
export interface SuccessRecorder {
  /** Adds a cell if it has succeeded after a cache miss. */
  add(step: number, cell: number): void;
  /** Resolves when all successes are written. */
  idle(): Promise<void>;
}

/** Writes all successes of one turn of the event loop together. A failed write is reported as a warning. */
export function createSuccessRecorder(session: RunSession): SuccessRecorder {
  const { clock, facts, plan, disk, home, runId } = session;
  let fresh: CacheEntry[] = [];
  let writing = Promise.resolve();

  function write(): void {
    const entries = fresh;
    fresh = [];
    writing = writing
      .then(() => addToCacheIndex(disk, home, entries))
      .catch((error: unknown) => {
        const message = `could not update the cache index: ${error instanceof Error ? error.message : String(error)}`;
        warn(session, message);
      });
  }

  return {
    add(step, cell) {
      const known = facts.known[step]?.[cell];
      if (!known?.missed || !hasSucceeded(session, step, cell)) return;
      const { fingerprint } = known.missed;
      const digest = digestCell(session, step, cell);
      const { clusterID } = findOrigin(session, step, cell);
      if (fresh.length === 0) clock.defer(write);
      fresh.push({
        fingerprint,
        digest,
        pipeline: plan.pipeline.name,
        step: plan.steps[step]!.step.name,
        cell: facts.cells[step]?.[cell]?.key ?? '',
        runId,
        ...placeOf(session, step, cell),
        ...scopeOn(facts, clusterID),
        siblings: describeSiblings(facts, step),
        results: known.results,
        at: clock.wall(),
      });
    },
    async idle() {
      if (fresh.length > 0) write();
      await writing;
    },
  };
}
