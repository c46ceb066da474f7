import type { Reuse } from '../journal/reuse.ts';
import type { ContextSource } from '../record/step-context.ts';

/**
 * Tells whether a step does its work in any case: it was asked for, or a step that it depends on has done its work in
 * this run. Services and questions to people are no work that others build on.
 */
export function createRerunCheck({ plan, facts, scheduler }: ContextSource, reuse: Reuse): (step: number) => boolean {
  /** A step that is depended on does not change any more; of many cells each asks. */
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
      isRerun = reuse.again.includes(spec.name) || dependencies.some(({ on }) => hasWorked(on));
      known.set(step, isRerun);
    }
    return isRerun;
  };
}
