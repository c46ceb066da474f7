import type { ASTNode } from '@marcbachmann/cel-js';
import { BINDERS, children, walk } from './walk.ts';

/**
 * The limit of one evaluation: each iteration of a loop costs one, and so do sixteen elements or characters that an
 * operator visits. Without it, a file of three lines could take minutes (nine nested loops over ten items) or exhaust
 * the memory (thirty doublings of a list). Cost instead of time, so that an expression has the same result on every
 * machine.
 */
const BUDGET = 2_000_000;
const PIECE = 16;

/** The cost counter of one expression tree. */
export interface EvaluationBudget {
  /** Must be called before each evaluation. */
  readonly reset: () => void;
  /** Whether the evaluation has reached its limit, even if the expression discarded the error. */
  readonly isSpent: () => boolean;
}

/**
 * Instruments a tree so that every evaluation counts its cost and fails at the limit. Undefined for a tree without
 * loops.
 */
export function limitEvaluation(ast: ASTNode): EvaluationBudget | undefined {
  const turns = new Set<ASTNode>();
  walk(ast, (node) => {
    if (node.op === 'rcall' && BINDERS.has(node.args[0])) for (const body of node.args[2].slice(1)) turns.add(body);
  });
  if (turns.size === 0) return undefined;
  // Created once, because recording a stack trace would cost more than the evaluation.
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

/** Operators that visit every element of a list. */
const LIST_OPERATORS: ReadonlySet<string> = new Set(['+', 'in', '==', '!=']);

/** The operands of operators and functions; true if the size of a list counts too, not only that of a string. */
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

/**
 * Wraps `evaluate` of a node, the only private part of the library in use: its public interface can neither count
 * iterations nor stop an evaluation (docs/decisions/0043-evaluation-budget.md). The first evaluation assigns a faster
 * function, which replaces the wrapped one. A test asserts the library's version.
 */
function observe(
  node: ASTNode,
  { before, after }: { readonly before: () => void; readonly after: (value: unknown) => void },
): void {
  let inner = (node as unknown as { evaluate?: Evaluate }).evaluate as Evaluate;
  if (typeof inner !== 'function') throw new Error('the CEL library has changed: a node has no `evaluate`');
  const observed: Evaluate = function (...given: readonly unknown[]) {
    before();
    const value = Reflect.apply(inner, this, given);
    after(value);
    return value;
  };
  Object.defineProperty(node, 'evaluate', {
    configurable: true,
    get: () => observed,
    set: (faster: Evaluate) => {
      inner = faster;
    },
  });
}
