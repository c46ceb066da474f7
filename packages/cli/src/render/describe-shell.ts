import { choosesPipefail, type Plan } from '@sluice/core';
import { listSome } from '../text/shorten.ts';

/** Describes the shell of a script with a pipe, which is chosen where the step runs. */
export const PIPEFAIL_SHELL = 'bash with pipefail, or an sh that supports it, because the script contains a pipe';

/** The line of a plan about scripts with a pipe; empty if there are none. */
export function describeShells({ steps }: Plan): string {
  const named = steps.filter(({ step }) => choosesPipefail(step.command)).map(({ step }) => step.name);
  if (named.length === 0) return '';
  return `shell: bash with pipefail, or an sh that supports it, for scripts with a pipe: ${listSome(named, 60)}\n`;
}
