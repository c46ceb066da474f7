import type { ASTNode } from '@marcbachmann/cel-js';
import { BINDERS, children, walk } from './walk.ts';

/**
 * What one evaluation may cost: a turn of a loop is one, sixteen elements or characters that an operator goes through
 * are one. Nine nested loops over ten items would take minutes, and thirty doublings of a list all memory, where the
 * file that says so has three lines. Counted and not timed: the same expression ends alike on every machine.
 */
const BUDGET = 2_000_000;
const PIECE = 16;

export interface EvaluationBudget {
  /** Before each evaluation. */
  readonly reset: () => void;
  /** Whether the evaluation came to its limit, also where the expression has swallowed the error. */
  readonly isSpent: () => boolean;
}

/** Counts from now on what evaluations of this tree cost, and ends those that cost too much; undefined for one without loops. */
export function limitEvaluation(ast: ASTNode): EvaluationBudget | undefined {
  const turns = new Set<ASTNode>();
  walk(ast, (node) => {
    if (node.op === 'rcall' && BINDERS.has(node.args[0])) for (const body of node.args[2].slice(1)) turns.add(body);
  });
  if (turns.size === 0) return undefined;
  // Made once: an error that takes down its stack costs more than what it stands for.
  const error = new Error(`it takes more than ${BUDGET} turns`);
  let left = BUDGET;
  const spend = (cost: number): void => {
    left -= cost;
    if (left < 0) throw error;
  };
  const operands = operandsOf(ast);
  for (const node of new Set([...turns, ...operands.keys()])) {
    const turn = turns.has(node) ? 1 : 0;
    const lists = operands.get(node);
    observe(node, {
      before: () => spend(turn),
      after: (value) => spend(lists === undefined ? 0 : sizeOf(value, lists) / PIECE),
    });
  }
  return {
    reset() {
      left = BUDGET;
    },
    isSpent: () => left < 0,
  };
}

/** Operators that look at every element of a list. */
const LIST_OPERATORS: ReadonlySet<string> = new Set(['+', 'in', '==', '!=']);

/** What operators and functions go through; true where lists count as well as texts. */
function operandsOf(ast: ASTNode): ReadonlyMap<ASTNode, boolean> {
  const operands = new Map<ASTNode, boolean>();
  walk(ast, (node) => {
    const lists = LIST_OPERATORS.has(node.op);
    if (!lists && node.op !== 'call' && node.op !== 'rcall') return;
    for (const operand of children(node)) operands.set(operand, lists);
  });
  return operands;
}

function sizeOf(value: unknown, lists: boolean): number {
  return typeof value === 'string' || (lists && Array.isArray(value)) ? value.length : 0;
}

type Evaluate = (this: unknown, ...given: readonly unknown[]) => unknown;

/** Once for each node: the library puts a quicker function in its place on the first evaluation, which is kept behind ours. */
function observe(
  node: ASTNode,
  { before, after }: { readonly before: () => void; readonly after: (value: unknown) => void },
): void {
  let inner = (node as unknown as { evaluate: Evaluate }).evaluate;
  const observed: Evaluate = function (...given: readonly unknown[]) {
    before();
    const value = Reflect.apply(inner, this, given);
    after(value);
    return value;
  };
  Object.defineProperty(node, 'evaluate', {
    configurable: true,
    get: () => observed,
    set: (quicker: Evaluate) => {
      inner = quicker;
    },
  });
}
