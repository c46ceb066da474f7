import type { Plan } from '../model/plan.ts';

/**
 * What all evaluations in one scope may cost together, in turns of about half a microsecond. An expression of another plan
 * has a limit of its own instead, which is larger than that of a scope.
 */
interface Scope {
  readonly plan: Plan;
  readonly limit: number;
  left: number;
  /** Created once, because recording a stack trace would cost more than the evaluation. */
  error: Error | undefined;
}

const LIMITS = new WeakMap<Plan, number>();
/** Evaluations are synchronous, so there is one at a time. */
let open: Scope | undefined;

/** Limits the evaluations of a plan from now on: those that belong together cost at most so many turns. */
export function limitPlan(plan: Plan, turns: number): void {
  LIMITS.set(plan, turns);
}

/**
 * All evaluations of the action, which is synchronous, cost together at most what a limited plan allows, or fewer turns if
 * `most` is given. In an action of the same plan, this changes nothing.
 */
export function evaluateTogether<T>(plan: Plan, action: () => T, most = Number.POSITIVE_INFINITY): T {
  const limit = Math.min(most, LIMITS.get(plan) ?? Number.POSITIVE_INFINITY);
  if (!LIMITS.has(plan) || open?.plan === plan) return action();
  const outer = open;
  open = { plan, limit, left: limit, error: undefined };
  try {
    return action();
  } finally {
    open = outer;
  }
}

/** Counts a cost. It never throws; the next evaluation fails if too much was spent. */
export function spendTurns(cost: number): void {
  if (open !== undefined) open.left -= cost;
}

/** Whether the evaluations of a limited plan are counted at present. */
export function isScoped(): boolean {
  return open !== undefined;
}

/** Characters that are copied per turn, and what the copy of a value costs instead. */
const PIECE = 16;
const VALUE = 6;

/** Counts the copy of a value, which is a tree. */
export function spendValue(value: unknown): void {
  if (open !== undefined) open.left -= sizeOf(value) / PIECE;
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return VALUE + value.length;
  if (typeof value !== 'object' || value === null) return VALUE;
  let size = VALUE;
  for (const item of Array.isArray(value) ? value : Object.values(value)) size += sizeOf(item);
  return size;
}

/** Turns that are left to the evaluations of the scope; infinite without a limit. */
export function turnsLeft(): number {
  return open?.left ?? Number.POSITIVE_INFINITY;
}

/** What an evaluation fails with when nothing is left. */
export function describeSpent(): Error | undefined {
  if (open === undefined) return undefined;
  open.error ??= new Error(
    `the expressions take more than ${open.limit} iterations together, the limit on this server; use fewer nested loops or shorter lists`,
  );
  return open.error;
}
