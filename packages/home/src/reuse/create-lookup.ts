import { type Fingerprint, findSharedRead, findSharedWrite } from '@sluice/core';
import { type CacheMiss, type CacheSource, type ContextSource, clusterOfWorkspace } from '@sluice/run';
import type { CacheIndex } from './cache-index.ts';
import { createIdentities, type FingerprintFault } from './fingerprint-cell.ts';
import { createRerunCheck } from './rerun-check.ts';
import type { ReusableRun } from './reusable-run.ts';

/** The result of a lookup in the records. Whether the data still exists has not been checked. */
export type LookedUp =
  | { readonly kind: 'found'; readonly fingerprint: Fingerprint; readonly source: CacheSource }
  | { readonly kind: 'missed'; readonly fingerprint: Fingerprint; readonly reason: CacheMiss['reason'] }
  /** An expression could not be evaluated. Unless `isOfKey`, it fails again when the container is created, and is reported then. */
  | ({ readonly kind: 'unevaluated' } & FingerprintFault);

/** Creates a function that looks up a cell in the run to reuse and, for steps with `cache`, in the index of the home. */
export function createLookup(
  run: ContextSource,
  { earlier, index, now }: { earlier: ReusableRun | undefined; index: CacheIndex; now: () => number },
): (step: number, cell: number) => LookedUp {
  const identities = createIdentities(run);
  const findRerun = createRerunCheck(run, identities.lineage);
  return (step, cell) => {
    const computed = identities.fingerprint(step, cell);
    if (!computed.ok) return { kind: 'unevaluated', ...computed.error };
    const fingerprint = computed.value;
    const miss = (reason: CacheMiss['reason']) => ({ kind: 'missed', fingerprint, reason }) as const;
    const spec = run.plan.steps[step]!.step;
    if (findSharedWrite(spec, run.plan.pipeline) !== undefined) return miss('writesShared');
    if (findRerun(step, cell) !== undefined) return miss('rerun');
    if (findSharedRead(spec, run.plan.pipeline) !== undefined) return miss('readsShared');
    const { name, cache } = spec;
    const reused = earlier?.find(name, run.facts.cells[step]?.[cell]?.key ?? '', fingerprint.digest);
    if (reused) return { kind: 'found', fingerprint, source: reused };
    const entries = cache
      ? index.list(fingerprint.digest, ({ volumeID }) => isWithinReach(run, { step, volumeID }))
      : [];
    const entry = entries.find(({ at }) => cache?.maxAgeMs === undefined || now() - at <= cache.maxAgeMs);
    if (!entry) return miss(entries.length === 0 ? 'unknown' : 'expired');
    const { runId, volumeID, siblings, results, digest, path } = entry;
    const place = { cell: entry.cell, ...(path !== undefined && { path }) };
    const source = { runId, step: entry.step, ...place, volumeID, fingerprint: digest, siblings, results };
    return { kind: 'found', fingerprint, source };
  };
}

/** Whether the outputs of a success, if it has any, are in one of this run's workspaces. */
export function isWithinReach(run: ContextSource, { step, volumeID }: { step: number; volumeID: string }): boolean {
  return !hasOutputs(run, step) || clusterOfWorkspace(run.facts, volumeID) !== undefined;
}

/** Whether a step has outputs, whose data must exist if it is to be reused. */
export function hasOutputs({ plan }: Pick<ContextSource, 'plan'>, step: number): boolean {
  return Object.keys(plan.steps[step]!.step.outputs).length > 0;
}
