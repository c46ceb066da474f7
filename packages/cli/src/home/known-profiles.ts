import { existsSync } from 'node:fs';
import { fail, ok, type Result } from '@sluice/core';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { findProfile, homeProfile, listProfiles, type ProfilePlace, profileFile } from './find-profile.ts';
import { findHome } from './home.ts';
import { type Profile, readProfile } from './profile.ts';

/** A profile of the user, of the home, or of `--profile`. */
export interface KnownProfile {
  /** The name of a profile of the user. */
  readonly name?: string;
  readonly file: string;
  /** Set if it is the one that applies. */
  readonly place?: ProfilePlace;
}

/** The profiles of the user, that of the home, and the one that applies, in this order. */
export function listKnownProfiles(
  context: Pick<CommandContext, 'env' | 'cwd'>,
  options: Pick<GlobalOptions, 'home' | 'profile'>,
): Result<readonly KnownProfile[], CommandError> {
  const found = findProfile(options, context);
  if (!found.ok) return found;
  const place = found.value;
  const names = listProfiles(context.env);
  const own = names.map((name) => ({ name, file: profileFile(name, context.env)! }));
  const ofHome = homeProfile(findHome(context, options));
  const files = [...(existsSync(ofHome) ? [ofHome] : []), ...(place === undefined ? [] : [place.path])];
  const others = [...new Set(files)].filter((file) => own.every((one) => one.file !== file));
  const all = [...own, ...others.map((file) => ({ file }))];
  return ok(all.map((one) => (one.file === place?.path ? { ...one, place } : one)));
}

/** Reads the file of a profile, which may be missing. */
export function readKnown(file: string): Result<Profile, CommandError> {
  if (!existsSync(file)) {
    return fail({
      exitCode: EXIT_CODE.rejected,
      message: `could not use the profile ${file}: the file does not exist`,
    });
  }
  return readProfile(file);
}
