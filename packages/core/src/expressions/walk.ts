import type { ASTNode } from '@marcbachmann/cel-js';

/** Visits a node and all nodes below it, parents before children. */
export function walk(node: ASTNode, visit: (node: ASTNode) => void): void {
  visit(node);
  for (const child of children(node)) walk(child, visit);
}

/** The direct child nodes, in the order of the source. */
export function children(node: ASTNode): ASTNode[] {
  const found: ASTNode[] = [];
  const add = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(add);
    else if (typeof value === 'object' && value !== null && 'op' in value) found.push(value as ASTNode);
  };
  add(node.args);
  return found;
}

/** Methods whose first argument is a variable that their other arguments can use. */
export const BINDERS: ReadonlySet<string> = new Set([
  'map',
  'filter',
  'all',
  'exists',
  'exists_one',
  'existsOne',
  'bind',
]);
