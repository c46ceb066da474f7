import { type CacheSource, type ReplayedRun, stepIndex } from '@sluice/run';
import type { Disk } from '../journal/disk.ts';
import { replayFromHome } from '../runs/read-run.ts';

/** What the runs of a home have recorded about the temporary outputs that they removed. */
export interface RemovalRecords {
  /** Whether a run has removed an output, may still remove it, or is unknown. Reads the journal of each run once. */
  has(source: CacheSource, output: string): Promise<boolean>;
}

/** Reads the runs of a home. */
export function createRemovalRecords({ disk, home }: { readonly disk: Disk; readonly home: string }): RemovalRecords {
  const runs = new Map<string, Promise<ReplayedRun | undefined>>();
  const indexes = new WeakMap<object, ReadonlyMap<string, number>>();
  const read = async (runId: string) => {
    const replayed = await replayFromHome(disk, home, runId);
    return replayed.ok ? replayed.value : undefined;
  };
  return {
    async has({ runId, step: name, cell: key }, output) {
      const reading = runs.get(runId) ?? read(runId);
      runs.set(runId, reading);
      const run = await reading;
      const step = run && stepIndex(run.facts.plan, name);
      if (run?.facts.finished === undefined || step === undefined) return true;
      const cells = run.facts.cells[step] ?? [];
      const index = indexes.get(cells) ?? new Map(cells.map((cell, at) => [cell.key, at]));
      indexes.set(cells, index);
      return run.facts.known[step]?.[index.get(key) ?? -1]?.removed?.includes(output) ?? false;
    },
  };
}
