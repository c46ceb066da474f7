import type { FailureClass, Retry } from '@sluice/core';
import type { CellState } from '../model/cell-state.ts';

/** One failed attempt, and what was tried before it. */
export interface FailedAttempt {
  readonly class: FailureClass;
  readonly exitCode?: number | undefined;
  readonly permanent?: boolean | undefined;
  readonly isFree?: boolean | undefined;
  /** Retries so far that counted against `limit`, and against `infrastructure`. */
  readonly retries: number;
  readonly infrastructureRetries: number;
  /** Index into `retry.escalate`, -1 for the step's own instance type. */
  readonly escalationLevel: number;
}

/** Whether to retry; if so, which retry limit the new attempt counts against, and the instance type that it uses. */
export type RetryDecision =
  | { readonly retry: true; readonly budget: 'limit' | 'infrastructure' | 'none'; readonly escalationLevel: number }
  | { readonly retry: false };

/**
 * Decides whether to retry a failed attempt. The failure class decides first; exit codes matter only within `failed`,
 * since a lost machine has none. Infrastructure failures use `infrastructure` before `limit`. Only failures that
 * more resources may prevent escalate to the next instance type.
 */
export function decideRetry(failed: FailedAttempt, retry: Retry): RetryDecision {
  const escalationLevel = failed.escalationLevel;
  if (failed.permanent === true) return { retry: false };
  if (failed.isFree === true) return { retry: true, budget: 'none', escalationLevel };
  if (failed.class === 'infrastructure' && failed.infrastructureRetries < retry.infrastructure) {
    return { retry: true, budget: 'infrastructure', escalationLevel };
  }
  const codeAllows =
    retry.exitCodes === undefined ||
    failed.class !== 'failed' ||
    retry.exitCodes.includes(failed.exitCode ?? Number.NaN);
  if (!retry.on.includes(failed.class) || !codeAllows || failed.retries >= retry.limit) {
    return { retry: false };
  }
  const climbs = failed.class === 'oom' || failed.class === 'failed';
  return {
    retry: true,
    budget: 'limit',
    escalationLevel: climbs ? Math.min(escalationLevel + 1, retry.escalate.length - 1) : escalationLevel,
  };
}

/** The state in which a cell ends after a failure of this class. */
export function failureState(failure: FailureClass): Extract<CellState, 'failed' | 'errored' | 'timedOut'> {
  if (failure === 'timeout') return 'timedOut';
  return failure === 'infrastructure' ? 'errored' : 'failed';
}
