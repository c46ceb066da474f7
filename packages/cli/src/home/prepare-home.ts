import { fail, ok, type Result } from '@sluice/core';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { checkHome } from './check-home.ts';
import { findHome } from './home.ts';
import { makeHome } from './make-home.ts';

/** Finds the home and creates it if necessary. A found home that may come from a repository is rejected. */
export async function prepareHome(
  context: Pick<CommandContext, 'env' | 'cwd'>,
  options: Pick<GlobalOptions, 'home'>,
): Promise<Result<string, CommandError>> {
  const found = checkHome(context, options);
  if (!found.ok) return found;
  const home = findHome(context, options);
  try {
    await makeHome(home);
  } catch (error) {
    const message = `could not use ${home} as the home: ${describeSystemError(error)}`;
    return fail({ exitCode: EXIT_CODE.rejected, message });
  }
  // Checked again: another user may have created it in the meantime.
  const made = checkHome(context, options);
  return made.ok ? ok(home) : made;
}
