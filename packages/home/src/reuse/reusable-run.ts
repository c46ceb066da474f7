import type { Fingerprint } from '@sluice/core';
import { type CacheSource, type ContextSource, hasSucceeded, placeOf, type ReplayedRun, stepIndex } from '@sluice/run';
import { describeSiblings } from '../runs/siblings.ts';
import { digestCell } from './digest-cell.ts';
import { createIdentities } from './fingerprint-cell.ts';

/** The successes of one run, by step name and cell key. */
export interface ReusableRun {
  readonly runId: string;
  has(step: string, key: string): boolean;
  find(step: string, key: string, fingerprint: string): CacheSource | undefined;
  /** The fingerprint of a success; undefined if the cell did not succeed. */
  fingerprintOf(step: string, key: string): Fingerprint | undefined;
}

/** The successes of an earlier run at this moment. The run may have failed, or may still be in progress. */
export function createReusableRun({ runId, facts, scheduler }: ReplayedRun): ReusableRun {
  const source: ContextSource = { runId, plan: facts.plan, facts, scheduler };
  const { fingerprint } = createIdentities(source);
  const cells = new Map<number, ReadonlyMap<string, number>>();

  /** The indexes of a cell that succeeded or was reused. */
  function locate(name: string, key: string): { step: number; cell: number } | undefined {
    const step = stepIndex(facts.plan, name);
    if (step === undefined) return undefined;
    let byKey = cells.get(step);
    if (!byKey) {
      byKey = new Map((facts.cells[step] ?? []).map((cell, index) => [cell.key, index]));
      cells.set(step, byKey);
    }
    const cell = byKey.get(key);
    if (cell === undefined) return undefined;
    return hasSucceeded(source, step, cell) ? { step, cell } : undefined;
  }

  return {
    runId,
    has: (name, key) => locate(name, key) !== undefined,
    fingerprintOf(name, key) {
      const at = locate(name, key);
      const made = at && fingerprint(at.step, at.cell);
      return made?.ok ? made.value : undefined;
    },
    find(name, key, digest) {
      const at = locate(name, key);
      if (at === undefined) return undefined;
      const { step, cell } = at;
      const made = fingerprint(step, cell);
      if (!made.ok || made.value.digest !== digest) return undefined;
      const known = facts.known[step]?.[cell];
      if (known?.cached) return known.cached;
      return {
        runId,
        step: name,
        cell: key,
        ...placeOf(source, step, cell),
        fingerprint: digestCell(source, step, cell),
        siblings: describeSiblings(facts, step),
        results: known?.results ?? {},
      };
    },
  };
}
