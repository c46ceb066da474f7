import { type ContextSource, type Reuse, splitCellName } from '@sluice/run';
import { type LineageOf, placesBefore } from './lineage.ts';

/** Why a step is run although a success of it may exist. */
export type RerunReason =
  | { readonly kind: 'requested' }
  /** Steps of `finally` always run. */
  | { readonly kind: 'final' }
  /** The nearest step before it that was executed in this run. */
  | { readonly kind: 'after'; readonly step: number };

/**
 * Creates a function that says whether a step, or a cell of it, must be run again: it is one of `finally`, or the run reuses
 * another one and a rerun was requested, or something before the step was executed in this run. The run, its preview and
 * explanations use it, so that they cannot differ.
 */
export function createRerunCheck(
  { plan, facts }: Pick<ContextSource, 'plan' | 'facts'>,
  lineage: LineageOf,
): (step: number, cell?: number) => RerunReason | undefined {
  const { reuse } = facts.header ?? {};
  const from = createRequested(reuse);
  /** Computed once per step, unless its cells differ in what they depend on. */
  const known = new Map<number, RerunReason | undefined>();

  function find(step: number, cell?: number): RerunReason | undefined {
    const { step: spec, final } = plan.steps[step]!;
    if (final) return { kind: 'final' };
    if (reuse === undefined) return undefined;
    if (from.get(spec.name)?.has(undefined)) return { kind: 'requested' };
    for (const place of placesBefore({ plan, facts }, step, cell)) {
      const { worked } = lineage(place.step, place.cell);
      if (worked !== undefined) return { kind: 'after', step: worked };
    }
    return undefined;
  }

  return (step, cell) => {
    const isEach = plan.steps[step]!.step.each !== undefined && cell !== undefined;
    if (!isEach && !known.has(step)) known.set(step, find(step));
    const ofStep = isEach ? find(step, cell) : known.get(step);
    if (ofStep !== undefined || cell === undefined) return ofStep;
    const key = facts.cells[step]?.[cell]?.key;
    const isRequested = key !== undefined && from.get(plan.steps[step]!.step.name)?.has(key) === true;
    return isRequested ? { kind: 'requested' } : undefined;
  };
}

/** The keys of the cells that are rerun, by step; undefined among them for the whole step. */
function createRequested(reuse: Reuse | undefined): ReadonlyMap<string, ReadonlySet<string | undefined>> {
  const requested = new Map<string, Set<string | undefined>>();
  for (const name of reuse?.from ?? []) {
    const { step, cell } = splitCellName(name);
    requested.set(step, (requested.get(step) ?? new Set()).add(cell));
  }
  return requested;
}
