import type { ASTNode } from '@marcbachmann/cel-js';
import { describeSpent, isScoped, spendTurns, spendValue, turnsLeft } from './evaluation-scope.ts';
import { costOfMatch, costOfPattern } from './match-text.ts';
import { BINDERS, children, walk } from './walk.ts';

/**
 * The limit of one evaluation: each iteration of a loop costs one, and so do sixteen elements or characters that an
 * operator visits. Without it, a file of three lines could take minutes (nine nested loops over ten items) or exhaust
 * the memory (thirty doublings of a list). Cost instead of time, so that an expression has the same result on every
 * machine.
 */
const BUDGET = 2_000_000;
const PIECE = 16;
/** What an expression costs a limited plan, in turns: as measured, since a turn takes about half a microsecond. */
const COST = { compiling: 40, compilingNode: 6, evaluating: 0.5, evaluatingNode: 1 / 16, bodyNode: 1 / 4 };

/** What `matches` is called in a program. Has as many letters, so that offsets in messages stay correct. */
export const SAFE_MATCHES = 're2find';

/** The cost counter of one expression tree. */
export interface EvaluationBudget {
  /** Must be called before each evaluation. */
  readonly reset: () => void;
  /**
   * Counts the result. Says which limit the evaluation has reached, if it has, even if the expression discarded the error.
   */
  readonly finish: (result: unknown) => string | undefined;
}

/**
 * Instruments a tree so that every evaluation counts its cost and fails at the limit. Undefined for a tree without
 * loops, unless the plan is limited: then the scope counts each node and each match, too.
 */
export function limitEvaluation(ast: ASTNode): EvaluationBudget | undefined {
  const turns = findLoopBodies(ast);
  if (turns.size === 0 && !isScoped()) return undefined;
  const nodes = countNodes(ast);
  spendTurns(COST.compiling + nodes * COST.compilingNode);
  // Created once, because recording a stack trace would cost more than the evaluation.
  const error = new Error(`it takes more than ${BUDGET} iterations`);
  let left = BUDGET;
  const spend = (cost: number): void => {
    left -= cost;
    if (left < 0) throw error;
    spendShared(cost);
  };
  const operands = operandsOf(ast);
  const matched = isScoped() ? watchMatches(ast) : undefined;
  for (const node of new Set([...turns.keys(), ...operands.keys()])) {
    const turn = turns.has(node) ? 1 : 0;
    const weight = Math.floor((turns.get(node) ?? 0) * COST.bodyNode);
    const lists = operands.get(node);
    observe(node, {
      before() {
        spend(turn);
        if (weight > 0) spendShared(weight);
      },
      after(value) {
        spend(lists === undefined ? 0 : sizeOf(value, lists) / PIECE);
        matched?.get(node)?.(value);
      },
    });
  }
  return {
    reset() {
      left = BUDGET;
      spendTurns(COST.evaluating + nodes * COST.evaluatingNode);
    },
    finish(result) {
      if (left < 0) return error.message;
      spendValue(result);
      return turnsLeft() < 0 ? describeSpent()?.message : undefined;
    },
  };
}

function spendShared(cost: number): void {
  spendTurns(cost);
  if (turnsLeft() < 0) throw describeSpent();
}

/** The nodes that are evaluated in each turn of a loop, each with the number of its nodes. */
function findLoopBodies(ast: ASTNode): ReadonlyMap<ASTNode, number> {
  const bodies = new Map<ASTNode, number>();
  walk(ast, (node) => {
    if (node.op !== 'rcall' || !BINDERS.has(node.args[0])) return;
    for (const body of node.args[2].slice(1)) bodies.set(body, countNodes(body));
  });
  return bodies;
}

function countNodes(ast: ASTNode): number {
  let count = 0;
  walk(ast, () => count++);
  return count;
}

/**
 * What is done with the texts and patterns of `matches`, which are operands. The engine is linear in the text, but its
 * programs can be large, and are compiled for each new pattern.
 */
function watchMatches(ast: ASTNode): ReadonlyMap<ASTNode, (value: unknown) => void> {
  const watched = new Map<ASTNode, (value: unknown) => void>();
  walk(ast, (node) => {
    if (node.op !== 'rcall' || node.args[0] !== SAFE_MATCHES) return;
    const [, text, [pattern]] = node.args;
    if (pattern === undefined) return;
    // The library decides which of them is evaluated first.
    let given: { text?: string; pattern?: string } = {};
    let compiled: string | undefined;
    const take = (key: 'text' | 'pattern') => (value: unknown) => {
      if (typeof value !== 'string') return;
      given[key] = value;
      if (given.text === undefined || given.pattern === undefined) return;
      const { text, pattern } = given as Required<typeof given>;
      given = {};
      spendShared((pattern === compiled ? 0 : costOfPattern(pattern)) + costOfMatch(text.length, pattern));
      compiled = pattern;
    };
    watched.set(text, take('text'));
    watched.set(pattern, take('pattern'));
  });
  return watched;
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
