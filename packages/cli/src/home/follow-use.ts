import { existsSync } from 'node:fs';
import { fail, ok, type Result } from '@sluice/core';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { profileFile } from './find-profile.ts';
import { type Profile, readProfile } from './profile.ts';

/** A profile that was read. */
export interface ReadProfile {
  readonly profile: Profile;
  readonly path: string;
}

/** The profile itself, or the one of the user that it names with `use`. The user must have confirmed a profile of a found home. */
export function followUse(read: ReadProfile, env: NodeJS.ProcessEnv): Result<ReadProfile, CommandError> {
  const { use } = read.profile;
  if (use === undefined) return ok(read);
  const reject = (reason: string) =>
    fail({ exitCode: EXIT_CODE.rejected, message: `could not use the profile ${read.path}: ${reason}` });
  const path = profileFile(use, env);
  if (path === undefined || !existsSync(path)) {
    return reject(`you have no profile ${use}; to create it, log in to its service with --profile ${use}`);
  }
  const profile = readProfile(path);
  if (!profile.ok) return profile;
  if (profile.value.use !== undefined) return reject(`${path} must not name another profile in turn`);
  return ok({ profile: profile.value, path });
}
