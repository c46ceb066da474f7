import type { Plan } from '@sluice/core';

/** The steps that a step depends on, directly or through others, in the order of the plan. */
export function stepsBefore({ steps }: Plan, start: number): readonly number[] {
  return reach(start, (index) => steps[index]!.dependencies.map(({ on }) => on));
}

/** The steps that depend on a step, directly or through others, in the order of the plan. */
export function stepsAfter({ steps }: Plan, start: number): readonly number[] {
  const dependents = steps.map((): number[] => []);
  for (const { index, dependencies } of steps) for (const { on } of dependencies) dependents[on]!.push(index);
  return reach(start, (index) => dependents[index]!);
}

function reach(start: number, next: (index: number) => readonly number[]): readonly number[] {
  const found = new Set<number>();
  const open = [start];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    for (const other of next(index)) {
      if (found.has(other)) continue;
      found.add(other);
      open.push(other);
    }
  }
  return [...found].sort((a, b) => a - b);
}
