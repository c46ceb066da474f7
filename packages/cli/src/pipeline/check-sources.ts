import type { Diagnostic } from '@sluice/core';
import type { LoadedPlan } from './load-plan.ts';

/** A diagnostic for each volume whose `source` cannot be read, at the line that names it. */
export async function checkSources({
  plan,
  baseDir,
  locate,
}: Pick<LoadedPlan, 'plan' | 'baseDir' | 'locate'>): Promise<readonly Diagnostic[]> {
  if (!Object.values(plan.pipeline.volumes).some(({ source }) => source !== undefined)) return [];
  const { findMissingSources } = await import('@sluice/runner');
  return (await findMissingSources(plan, baseDir)).map(({ volume, message, hint }) => {
    const range = locate(['volumes', volume, 'source']);
    return {
      code: 'missing-source',
      severity: 'error',
      message,
      ...(range && { range }),
      ...(hint !== undefined && { hint }),
    };
  });
}
