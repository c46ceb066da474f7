import type { Scope } from './expression-scope.ts';

type Hints = NonNullable<Scope['hints']>;

/** Hints for values that the plan has to know, because the order of the cells depends on them. */
export const BEFORE_THE_RUN: Hints = {
  ...hintsFor(
    ['steps', 'run', 'attempt', 'env', 'inputs', 'outputs'],
    'it is evaluated before the run; use `params`, `each` or `matrix`',
  ),
  item: 'the items of `foreach` are known only during the run; declare an axis for them, and use `each`',
};

/** Hints for the clusters of cells. */
export const WITH_THE_CLUSTERS: Hints = {
  ...hintsFor(
    ['steps', 'run', 'attempt', 'env', 'inputs', 'outputs'],
    'the clusters of a run are chosen and frozen when it begins; use `params`, `each` or `matrix`',
  ),
  item: 'the clusters of a run are chosen when it begins, and the items of `foreach` are not known then; declare an axis for them, and use `each`',
};

/** Hints for values that are evaluated when a cell becomes ready, before its attempts. */
export const BEFORE_THE_CELL = hintsFor(
  ['run', 'attempt', 'env', 'inputs', 'outputs'],
  'it is evaluated before the cell starts; use `params`, `each`, `matrix` or the results of other steps',
);

function hintsFor(roots: readonly string[], hint: string): Hints {
  return Object.fromEntries(roots.map((root) => [root, hint]));
}
