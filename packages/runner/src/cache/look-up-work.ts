import { type Fingerprint, findSharedWrite } from '@sluice/core';
import type { CacheMiss, CacheSource } from '../journal/journal-record.ts';
import { clusterOfWorkspace } from '../record/place-of.ts';
import type { ContextSource } from '../record/step-context.ts';
import type { CacheIndex } from './cache-index.ts';
import { createCellFingerprinter } from './fingerprint-cell.ts';
import { createRerunCheck } from './rerun-check.ts';
import type { ReusableRun } from './reusable-run.ts';

/** Whether a cell's work was done before, as far as records tell: nobody has looked whether the data is still there. */
export type LookedUp =
  | { readonly kind: 'found'; readonly made: Fingerprint; readonly source: CacheSource }
  | { readonly kind: 'missed'; readonly made: Fingerprint; readonly reason: CacheMiss['reason'] }
  /** An expression cannot be evaluated; it fails again when the container is made, and is reported there. */
  | { readonly kind: 'untold'; readonly message: string };

/** Looks a cell's work up in the run that is taken over from and, where the step says `cache`, among all of the home. */
export function createWorkLookUp(
  run: ContextSource,
  { earlier, index, now }: { earlier: ReusableRun | undefined; index: CacheIndex; now: () => number },
): (step: number, cell: number) => LookedUp {
  const fingerprint = createCellFingerprinter(run);
  const { reuse } = run.facts.header ?? {};
  const isRerun = reuse ? createRerunCheck(run, reuse) : () => false;
  return (step, cell) => {
    const told = fingerprint(step, cell);
    if (!told.ok) return { kind: 'untold', message: told.error };
    const made = told.value;
    const spec = run.plan.steps[step]!.step;
    if (findSharedWrite(spec, run.plan.pipeline) !== undefined) return { kind: 'missed', made, reason: 'writesShared' };
    if (isRerun(step)) return { kind: 'missed', made, reason: 'anew' };
    const { name, cache } = spec;
    const taken = earlier?.find(name, run.facts.cells[step]?.[cell]?.key ?? '', made.digest);
    if (taken) return { kind: 'found', made, source: taken };
    const entry = cache && index.find(made.digest, (one) => isWithinReach(run, { step, volumeID: one.volumeID }));
    if (!entry) return { kind: 'missed', made, reason: 'unknown' };
    if (cache?.maxAgeMs !== undefined && now() - entry.at > cache.maxAgeMs) {
      return { kind: 'missed', made, reason: 'expired' };
    }
    const { runId, volumeID, siblings, results, digest = entry.fingerprint } = entry;
    const source = { runId, step: entry.step, cell: entry.cell, volumeID, fingerprint: digest, siblings, results };
    return { kind: 'found', made, source };
  };
}

/** Whether the outputs of a success, if it has any, lie in a volume that this run works in. */
export function isWithinReach(run: ContextSource, { step, volumeID }: { step: number; volumeID: string }): boolean {
  return !hasOutputs(run, step) || clusterOfWorkspace(run.facts, volumeID) !== undefined;
}

/** Whether there is data to be found before a step's work can be taken over. */
export function hasOutputs({ plan }: Pick<ContextSource, 'plan'>, step: number): boolean {
  return Object.keys(plan.steps[step]!.step.outputs).length > 0;
}
