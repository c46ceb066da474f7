import type { SourceChange } from '../simulation/plant-bug.ts';

interface PlantedReuseBug extends SourceChange {
  readonly name: string;
  /** A seed that finds it; it is tried first. */
  readonly seed: number;
}

const BEFORE = 'const before = placesBefore(run, step, cell).map((one) => known.get(idOf(one))!);';
const ORDER = 'hashText(JSON.stringify([program, ...before.map((one) => one.digest)]))';
const passesNothing = (condition: string) => ({
  file: '../../home/src/reuse/lineage.ts',
  find: BEFORE,
  replace: BEFORE.replace('placesBefore(run, step, cell)', `(${condition} ? [] : placesBefore(run, step, cell))`),
});

/** Bugs that make a run reuse stale results; the reuse model must find each. */
export const PLANTED_REUSE_BUGS: readonly PlantedReuseBug[] = [
  { name: 'loses the order behind an approval', seed: 59, ...passesNothing('spec.approval') },
  { name: 'loses the order behind a service', seed: 62, ...passesNothing('spec.service') },
  { name: 'loses the order behind a skipped step', seed: 10, ...passesNothing('!spec.approval && !spec.service') },
  {
    name: 'leaves what came before a step without work out of fingerprints',
    seed: 22,
    file: '../../home/src/reuse/lineage.ts',
    find: ORDER,
    replace: 'hashText(program)',
  },
  {
    name: 'takes a service on a shared volume for the same service',
    seed: 20,
    file: '../../home/src/reuse/lineage.ts',
    find: ' || findSharedRead(spec, plan.pipeline) !== undefined',
    replace: ' || findSharedRead === undefined',
  },
  {
    name: 'leaves the steps in needs out of the fingerprint',
    seed: 3,
    file: '../../home/src/reuse/fingerprint-cell.ts',
    find: 'after: describeOrder(step, index),',
    replace: 'after: describeOrder.length === 0 ? {} : {},',
  },
  {
    name: 'identifies outputs by the fingerprint of the work, although two runs may do it at the same time',
    seed: 17,
    file: '../../home/src/reuse/digest-cell.ts',
    find: '  // The outputs of a failed cell may be incomplete.\n',
    replace: "  if (isSuccess && known?.missed?.reason === 'unknown') return known.missed.fingerprint;\n",
  },
  {
    name: 'takes the newest success of each cell, from any run',
    seed: 0,
    file: '../../home/src/reuse/cache-index.ts',
    find: 'return [...entries].sort((a, b) => rank.get(a.runId)! - rank.get(b.runId)!);',
    replace: 'return rank.size < 0 ? [] : entries;',
  },
  {
    name: 'takes equal cells for the same work',
    seed: 5,
    file: '../../home/src/reuse/fingerprint-cell.ts',
    find: '...(replicate > 0 && { replicate }),',
    replace: '...(replicate < 0 && { replicate }),',
  },
  {
    name: 'reuses a step that reads a shared volume',
    seed: 4,
    file: '../../home/src/reuse/create-lookup.ts',
    find: "if (findSharedRead(spec, run.plan.pipeline) !== undefined) return miss('readsShared');",
    replace: 'void findSharedRead;',
  },
  {
    name: 'reuses a step of finally',
    seed: 1,
    file: '../../home/src/reuse/rerun-check.ts',
    find: "if (final) return { kind: 'final' };",
    replace: 'void final;',
  },
  {
    name: 'takes a cell although its rerun was requested',
    seed: 0,
    file: '../../home/src/reuse/create-lookup.ts',
    find: 'if (findRerun(step, cell) !== undefined)',
    replace: 'if (findRerun(step) !== undefined)',
  },
  {
    name: 'does not rerun what comes after a step that it has executed',
    seed: 115,
    file: '../../home/src/reuse/rerun-check.ts',
    find: 'if (worked !== undefined) return',
    replace: 'if (worked === -1) return',
  },
  {
    name: 'counts the addresses of services as part of the work',
    seed: 6,
    file: '../../home/src/reuse/fingerprint-cell.ts',
    find: 'if (facts === undefined || names.length === 0) return facts;',
    replace: 'if (facts === undefined || names.length >= 0) return facts;',
  },
  {
    name: 'removes a temporary output although a cell that mounts it has not ended',
    seed: 3,
    file: '../../run/src/facts/temporary-outputs.ts',
    find: 'return readers === undefined || (readers.open === 0 && !readers.isKept);',
    replace: 'return readers === undefined || !readers.isKept;',
  },
  {
    name: 'takes a cell whose temporary outputs are created again for a changed one',
    seed: 53,
    file: '../../home/src/reuse/digest-cell.ts',
    find: 'known?.cached ?? known?.missed?.restores;',
    replace: 'known?.cached;',
  },
  {
    name: 'reruns what comes after a cell whose temporary outputs are created again',
    seed: 53,
    file: '../../home/src/reuse/lineage.ts',
    find: ' && facts.known[step]?.[cell]?.missed?.restores === undefined',
    replace: ' && facts !== undefined',
  },
];
