import type { Diagnostic } from '@sluice/core';
import type { SiteLimits } from '@sluice/run';
import { findMountFault } from '@sluice/runner';
import type { LoadedPlan } from './load-plan.ts';

/** A diagnostic for the first step with more mounts than the service allows, at the line of the step. */
export function checkMounts(
  { plan, locate }: Pick<LoadedPlan, 'plan' | 'locate'>,
  limits: SiteLimits | undefined,
): readonly Diagnostic[] {
  const fault = findMountFault(plan, limits);
  if (fault === undefined) return [];
  const isFinal = plan.pipeline.finally.some(({ name }) => name === fault.step);
  const range = locate([isFinal ? 'finally' : 'steps', fault.step]);
  return [{ code: 'too-many-mounts', severity: 'error', message: fault.message, ...(range && { range }) }];
}
