import { existsSync } from 'node:fs';
import { fail, ok, type Result } from '@sluice/core';
import { replaceFile } from '@sluice/host-system';
import { stringify } from 'yaml';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { printWarning } from '../context/print-warning.ts';
import { reject } from '../context/reject.ts';
import { keepConfirmation } from '../home/confirmation.ts';
import { findProfile, homeProfile, isProfileFile } from '../home/find-profile.ts';
import { isHomeNamed } from '../home/home.ts';
import { prepareHome } from '../home/prepare-home.ts';
import { connectionOf, readProfile } from '../home/profile.ts';
import { renderValue } from '../json/render-value.ts';

/** `sluice profile use`: makes a profile of the user the one of this home, and confirms that. */
export async function useProfile(name: string, context: CommandContext, options: GlobalOptions): Promise<number> {
  const { terminal, env } = context;
  const fault = findFault(name, context);
  if (fault !== undefined) return reject(fault, { context, options });
  const prepared = await prepareHome(context, options);
  if (!prepared.ok) return reject(prepared.error, { context, options });
  const home = prepared.value;
  const file = homeProfile(home);
  const written = await write({ home, file, name }, { context, options });
  if (!written.ok) return reject(written.error, { context, options });
  if (options.json === true) {
    terminal.out(renderValue('homeProfile', { profile: name, home, file }));
    return EXIT_CODE.ok;
  }
  terminal.out(`${home} now uses your profile ${name}; remove ${file} to undo it\n`);
  if (env.SLUICE_PROFILE) printWarning(terminal, `SLUICE_PROFILE takes precedence over the profile of the home`);
  return EXIT_CODE.ok;
}

function findFault(name: string, context: CommandContext): CommandError | undefined {
  const rejectUse = (reason: string) => ({ exitCode: EXIT_CODE.rejected, message: `could not use ${name}: ${reason}` });
  if (isProfileFile(name)) return rejectUse('expected the name of one of your profiles, not a file');
  const found = findProfile({ profile: name }, context);
  if (!found.ok) return found.error;
  const read = readProfile(found.value!.path);
  if (!read.ok) return read.error;
  return read.value.use === undefined ? undefined : rejectUse('it names another profile in turn');
}

interface Chosen {
  readonly home: string;
  readonly file: string;
  readonly name: string;
}

/** Writes the file first: without the confirmation, commands ask for it and use no profile. */
async function write(
  { home, file, name }: Chosen,
  { context, options }: { readonly context: CommandContext; readonly options: GlobalOptions },
): Promise<Result<undefined, CommandError>> {
  const rejectUse = (reason: string) =>
    fail({ exitCode: EXIT_CODE.rejected, message: `could not write ${file}: ${reason}` });
  if (existsSync(file)) {
    const before = readProfile(file);
    if (!before.ok || before.value.use === undefined) return rejectUse('it has settings of its own; remove it first');
  }
  try {
    await replaceFile(file, stringify({ use: name }));
    const confirmed = await keepConfirmation({ home, connection: connectionOf({ use: name }) }, context.env);
    if (confirmed !== undefined || isHomeNamed(context, options)) return ok(undefined);
    return rejectUse('the user has no state directory to confirm it in; set HOME or XDG_STATE_HOME');
  } catch (error) {
    return rejectUse(describeSystemError(error));
  }
}
