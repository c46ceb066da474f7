import type { ASTNode } from '@marcbachmann/cel-js';
import { BINDERS, children } from './walk.ts';

/** An access in an expression that begins at a root. */
export interface Reference {
  readonly root: string;
  /** Constant keys after the root, up to the first computed one. */
  readonly keys: readonly string[];
  /** Offsets in the expression's source. */
  readonly start: number;
  readonly end: number;
  /** The call of `has` with this argument, which must consist of names and dots. */
  readonly has?: { readonly start: number; readonly end: number };
  /** Variables of `map` and similar methods that hide roots of the same names here; absent if there are none. */
  readonly bound?: ReadonlySet<string>;
}

/** Adds every access to a root, except variables that `map` and similar methods bind. */
export function collectReferences(node: ASTNode, bound: ReadonlySet<string>, into: Reference[]): void {
  const reference = asReference(node);
  if (reference !== undefined) {
    add(reference, bound, into);
    return;
  }
  if (node.op === 'rcall' && BINDERS.has(node.args[0])) {
    const [method, receiver, [variable, ...bodies]] = node.args;
    // `cel.bind` has its value as an argument, where the variable does not exist yet.
    const outer = method === 'bind' ? bodies.shift() : receiver;
    if (outer !== undefined) collectReferences(outer, bound, into);
    const inner = variable?.op === 'id' ? new Set([...bound, variable.args]) : bound;
    for (const body of bodies) collectReferences(body, inner, into);
    return;
  }
  const asked = node.op === 'call' && node.args[0] === 'has' ? node.args[1][0] : undefined;
  const inHas = asked && asReference(asked);
  if (inHas !== undefined) {
    add({ ...inHas, has: { start: node.start, end: node.end } }, bound, into);
    return;
  }
  for (const child of children(node)) collectReferences(child, bound, into);
}

function add(reference: Reference, bound: ReadonlySet<string>, into: Reference[]): void {
  if (!bound.has(reference.root)) into.push(bound.size === 0 ? reference : { ...reference, bound });
}

/** The access that a node represents; undefined for other nodes. */
export function asReference(node: ASTNode): Reference | undefined {
  if (node.op === 'id') return { root: node.args, keys: [], start: node.start, end: node.end };
  if (node.op === '.' || node.op === '.?') {
    const base = asReference(node.args[0]);
    return base && { ...base, keys: [...base.keys, node.args[1]], end: node.end };
  }
  if (node.op === '[]') {
    const [target, key] = node.args;
    const base = asReference(target);
    if (base === undefined || key.op !== 'value') return undefined;
    // A list index is not a name, and as a string it could not be distinguished from one.
    if (typeof key.args !== 'string' && base.keys.length > 0) return undefined;
    return { ...base, keys: [...base.keys, String(key.args)], end: node.end };
  }
  return undefined;
}
