import type { ASTNode } from '@marcbachmann/cel-js';
import { asReference, type Reference } from './reference.ts';
import { walk } from './walk.ts';

/** A string literal that is compared with a reference by `==`, `!=` or `in [...]`. */
export interface Comparison {
  readonly reference: Reference;
  readonly text: string;
  /** Offsets of the literal in the expression's source. */
  readonly start: number;
  readonly end: number;
}

/** `references` are those of the whole expression, so that variables of `map` and similar methods are ignored. */
export function findComparisons(ast: ASTNode, references: readonly Reference[]): readonly Comparison[] {
  const found: Comparison[] = [];
  const free = new Set(references.map(({ start }) => start));
  const add = (reference: Reference | undefined, value: ASTNode): void => {
    if (reference === undefined || !free.has(reference.start) || value.op !== 'value' || typeof value.args !== 'string')
      return;
    found.push({ reference, text: value.args, start: value.start, end: value.end });
  };
  walk(ast, (node) => {
    if (node.op === '==' || node.op === '!=') {
      const [left, right] = node.args;
      add(asReference(left), right);
      add(asReference(right), left);
    } else if (node.op === 'in') {
      const [item, list] = node.args;
      if (list.op === 'list') for (const value of list.args) add(asReference(item), value);
    }
  });
  return found;
}
