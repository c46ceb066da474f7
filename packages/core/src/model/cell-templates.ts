import type { Template } from './template.ts';

/**
 * Keys of a step that have expressions. `valuesOfCell` evaluates those with `params`, `each` or `matrix`; the others, with
 * results or listed items, are evaluated when a cell is decided.
 */
export interface CellTemplates {
  readonly timeout?: Template;
  readonly queueTimeout?: Template;
  readonly deadline?: Template;
  readonly priority?: Template;
  readonly resources?: ResourceTemplates;
  readonly retry?: RetryTemplates;
  readonly placement?: PlacementTemplates;
  /** By pool. */
  readonly pools?: Readonly<Record<string, Template>>;
}

/** Expressions for the resources of a cell, each for one of `Resources`. */
export interface ResourceTemplates {
  readonly cpu?: Template;
  readonly memory?: Template;
  readonly gpu?: Template;
  readonly gpuModel?: Template;
  readonly time?: Template;
}

/** The clusters of a cell. Of a list, items without an expression are in it as well. */
export interface PlacementTemplates {
  readonly cluster?: Template;
  readonly anyOf?: readonly Template[];
  readonly ordered?: readonly Template[];
}

/** Expressions for the retries of a cell. */
export interface RetryTemplates {
  readonly limit?: Template;
  readonly infrastructure?: Template;
  readonly backoff?: { readonly initial?: Template; readonly factor?: Template; readonly max?: Template };
  /** By level; empty for one that is the same for all cells. */
  readonly escalate?: readonly ResourceTemplates[];
}
