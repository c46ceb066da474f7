import type { GridStep } from './grid-step.ts';

/**
 * The axes whose combinations of items can be the rows of a grid: those of `each` of some step. First those that most steps
 * have in `each`, then those that most steps have at all.
 */
export function rowChoices(steps: readonly Pick<GridStep, 'each' | 'axes'>[]): readonly (readonly string[])[] {
  const choices = new Map<string, { readonly axes: readonly string[]; exact: number; all: number }>();
  for (const { each } of steps) {
    const id = [...each].sort().join();
    const choice = choices.get(id) ?? { axes: each, exact: 0, all: steps.filter((step) => hasAxes(step, each)).length };
    choice.exact += 1;
    choices.set(id, choice);
  }
  return [...choices.values()].sort((a, b) => b.exact - a.exact || b.all - a.all).map(({ axes }) => axes);
}

/** Whether each cell of a step can belong to an item of each axis. */
export function hasAxes({ axes }: Pick<GridStep, 'axes'>, wanted: readonly string[]): boolean {
  return wanted.every((axis) => axes.includes(axis));
}
