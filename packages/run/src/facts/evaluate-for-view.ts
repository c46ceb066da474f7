import { evaluateTogether, type Plan } from '@sluice/core';

/** Turns of one description, which clients may request at any time: about 20 ms. */
const MAX_TURNS = 50_000;

/** Evaluates the expressions of a description; together they cost little if the plan is limited. */
export function evaluateForView<T>(plan: Plan, evaluate: () => T): T {
  return evaluateTogether(plan, evaluate, MAX_TURNS);
}
