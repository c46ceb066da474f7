import type { Reuse } from '../journal/reuse.ts';
import type { ContextSource } from '../record/step-context.ts';

/**
 * Creates a function that says whether a step must be rerun: a rerun was requested, or a dependency was executed in this
 * run. Services and approvals do not count as dependencies, since they have no outputs.
 */
export function createRerunCheck({ plan, facts, scheduler }: ContextSource, reuse: Reuse): (step: number) => boolean {
  /** Computed once per step, not per cell: the steps that it depends on do not change any more. */
  const known = new Map<number, boolean>();

  function hasWorked(step: number): boolean {
    const { service, approval } = plan.steps[step]!.step;
    if (service !== undefined || approval !== undefined) return false;
    return (facts.cells[step] ?? []).some((_, cell) => {
      const state = scheduler.state(step, cell);
      return state !== 'cached' && state !== 'skipped';
    });
  }

  return (step) => {
    let isRerun = known.get(step);
    if (isRerun === undefined) {
      const { step: spec, dependencies } = plan.steps[step]!;
      isRerun = reuse.force.includes(spec.name) || dependencies.some(({ on }) => hasWorked(on));
      known.set(step, isRerun);
    }
    return isRerun;
  };
}
