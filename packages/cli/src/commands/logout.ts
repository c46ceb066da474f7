import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { replaceFile } from '@sluice/host-system';
import { parseDocument } from 'yaml';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { printWarning } from '../context/print-warning.ts';
import { reject } from '../context/reject.ts';
import { findProfile, isProfileFile } from '../home/find-profile.ts';
import { type Profile, readProfile } from '../home/profile.ts';
import { renderValue } from '../json/render-value.ts';
import { hideLogin } from '../text/hide-login.ts';

/** `sluice logout`: removes the token that `sluice login` has saved for a profile of the user, and keeps its other settings. */
export async function logout(name: string, context: CommandContext, options: GlobalOptions): Promise<number> {
  const { terminal, env } = context;
  const found = findSaved(name, context);
  if (!found.ok) return reject(found.error, { context, options });
  const { file, profile, tokenFile } = found.value;
  const removed = profile.tokenFile !== undefined || existsSync(tokenFile);
  try {
    if (removed) await removeToken({ file, tokenFile });
  } catch (error) {
    const message = `could not remove the token of profile ${name}: ${describeSystemError(error)}`;
    return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
  }
  const service = profile.service === undefined ? undefined : hideLogin(profile.service);
  if (options.json === true) {
    terminal.out(renderValue('logout', { profile: name, file, ...(service !== undefined && { service }), removed }));
  } else if (!removed) terminal.out(`profile ${name} has no saved token\n`);
  else terminal.out(`removed ${tokenFile}; ${service ?? 'its service'} accepts the token until it expires\n`);
  if (profile.passwordFile !== undefined) {
    printWarning(terminal, `${file} still names a password: ${profile.passwordFile}`);
  }
  if (env.SLUICE_TOKEN || env.SLUICE_PASSWORD) {
    printWarning(terminal, 'SLUICE_TOKEN or SLUICE_PASSWORD is set; unset it to log out of this shell');
  }
  return EXIT_CODE.ok;
}

interface SavedToken {
  readonly file: string;
  readonly profile: Profile;
  /** Where `sluice login` writes the token. */
  readonly tokenFile: string;
}

function findSaved(name: string, context: CommandContext): Result<SavedToken, CommandError> {
  const rejectName = (reason: string) =>
    fail({ exitCode: EXIT_CODE.rejected, message: `could not log out of ${name}: ${reason}` });
  if (isProfileFile(name)) return rejectName('expected the name of one of your profiles, not a file');
  const found = findProfile({ profile: name }, context);
  if (!found.ok) return found;
  const file = found.value!.path;
  const profile = readProfile(file);
  if (!profile.ok) return profile;
  const tokenFile = join(dirname(file), `${name}.token`);
  const named = profile.value.tokenFile;
  if (named === undefined || named === tokenFile) return ok({ file, profile: profile.value, tokenFile });
  return rejectName(`its tokenFile ${named} was not written by a login; remove that file yourself`);
}

/** The token first: if the process ends in between, a repetition removes its name, too. */
async function removeToken({ file, tokenFile }: Pick<SavedToken, 'file' | 'tokenFile'>): Promise<void> {
  await rm(tokenFile, { force: true });
  const document = parseDocument(readFileSync(file, 'utf8'));
  document.delete('tokenFile');
  await replaceFile(file, document.toString());
}
