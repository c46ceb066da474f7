import type { Plan } from '@sluice/core';
import type { RunError } from '@sluice/run';
import { secretNames } from '../session/create-redactor.ts';

/** The rejection for the first secret of a plan without a value; undefined if all have one. */
export function findMissingSecret(plan: Plan, secrets: (name: string) => string | undefined): RunError | undefined {
  const missing = [...secretNames(plan)].find((name) => secrets(name) === undefined);
  if (missing === undefined) return undefined;
  return { code: 'SECRET_MISSING', message: `the pipeline needs the secret ${missing}, which is not given` };
}
