import type { Scope } from './expression-scope.ts';

/**
 * Hints for the values of a cell that `valuesOfCell` has: they are evaluated when a run is planned, because the order of the
 * cells and their placement depend on them.
 */
export const TOO_LATE: NonNullable<Scope['hints']> = {
  ...Object.fromEntries(
    ['steps', 'run', 'attempt', 'env', 'inputs', 'outputs'].map((root) => [
      root,
      'it is evaluated before the run; use `params`, `each` or `matrix`',
    ]),
  ),
  item: 'the items of `foreach` are known only during the run; declare an axis for them, and use `each`',
};
