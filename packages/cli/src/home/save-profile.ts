import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Scope } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { replaceFile } from '@sluice/host-system';
import { isMap, parseDocument } from 'yaml';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { profileFile } from './find-profile.ts';
import { type Profile, readProfile } from './profile.ts';

/** A profile before its login. */
export interface ProfileDraft {
  readonly file: string;
  /** What the file contains already, and the new settings; paths are absolute. */
  readonly settings: Profile & { readonly service: string };
}

/** The settings that are known before the login; `caFile` is absolute. */
interface NewProfile {
  readonly name: string;
  readonly service: string;
  readonly authUrl?: string;
  readonly caFile?: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Checks name and address. Rejects a name whose profile is for another service. */
export function openProfileDraft({ name, env, ...given }: NewProfile): Result<ProfileDraft, CommandError> {
  const reject = (reason: string) =>
    fail({ exitCode: EXIT_CODE.rejected, message: `could not write profile ${name}: ${reason}` });
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) {
    return reject('a name consists of letters, digits, `-` and `_`, and begins with a letter or digit');
  }
  for (const url of [given.service, given.authUrl ?? given.service]) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      return reject(`${url} is not an address that starts with https:// or http://`);
    }
  }
  const file = profileFile(name, env);
  if (file === undefined) return reject('the user has no configuration directory; set HOME or XDG_CONFIG_HOME');
  const before = existsSync(file) ? readProfile(file) : ok({} as Profile);
  if (!before.ok) return before;
  const { service, use, engine } = before.value;
  if (engine !== undefined) return reject(`${file} is for the engine ${engine}; choose another name with --profile`);
  if (use !== undefined) return reject(`${file} names the profile ${use}; remove that file`);
  if (service !== undefined && new URL(service).href !== new URL(given.service).href) {
    return reject(`${file} is for ${service}; choose another name with --profile, or remove that file`);
  }
  return ok({ file, settings: { ...before.value, ...given } });
}

/**
 * Writes the token to `NAME.token` beside the profile, then the profile, both with mode 0600. Each file is replaced
 * atomically. Other settings and comments of an existing profile are kept.
 */
export async function saveProfile(
  { file, settings }: ProfileDraft,
  { token, email, scope }: { token: string; email?: string; scope: Scope },
): Promise<void> {
  const tokenFile = `${basename(file, '.yaml')}.token`;
  const document = parseDocument(existsSync(file) ? readFileSync(file, 'utf8') : '');
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never;
  const { service, authUrl, caFile } = settings;
  const values = { service, authUrl, caFile, cluster: scope.clusterID, account: scope.accountID, email };
  for (const [key, value] of Object.entries({ ...values, tokenFile: `./${tokenFile}` })) {
    if (value === undefined) document.delete(key);
    else document.set(key, value);
  }
  // With a password, commands would log in again instead of using the token.
  document.delete('passwordFile');
  await replaceFile(join(dirname(file), tokenFile), `${token}\n`);
  await replaceFile(file, document.toString());
}
