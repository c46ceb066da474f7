import type { ASTNode } from '@marcbachmann/cel-js';
import { walk } from './walk.ts';

interface Evaluator {
  run(node: ASTNode, context: unknown): unknown;
}

/** The library leaves these out, because it creates plain objects by assignment. */
const LEFT_OUT: ReadonlySet<unknown> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Makes the map literals of a tree keep all of their keys: values of files are data, whatever their keys are. The
 * library's first evaluation assigns another function, which is ignored.
 */
export function keepMapKeys(ast: ASTNode): void {
  walk(ast, (node) => {
    if (node.op !== 'map') return;
    const pairs = node.args;
    const evaluate = (evaluator: Evaluator, _: ASTNode, context: unknown): unknown => {
      const entries = pairs.map(
        ([key, value]) => [evaluator.run(key, context), evaluator.run(value, context)] as [PropertyKey, unknown],
      );
      return entries.some(([key]) => LEFT_OUT.has(key)) ? new Map(entries) : Object.fromEntries(entries);
    };
    Object.defineProperty(node, 'evaluate', { configurable: true, get: () => evaluate, set: () => undefined });
  });
}
