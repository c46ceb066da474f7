import { basename } from 'node:path';
import { suggestCommand } from '../context/suggest-command.ts';
import { DEFAULT_PROFILE, profileFile } from '../home/find-profile.ts';

/** Where the credentials of a service come from. */
export interface CredentialSource {
  readonly env: NodeJS.ProcessEnv;
  /** The profile that applies; undefined if there is none. */
  readonly profilePath: string | undefined;
  /** Whether this profile is for another service, so that its credentials are not used. */
  readonly isOther: boolean;
}

/** What to do about credentials that the service at `url` has rejected. */
export function adviseLogin(url: string, source: CredentialSource): string {
  const { env, profilePath } = source;
  const name = findLoginName(url, source);
  const login =
    name === undefined
      ? `update the credentials that ${profilePath} names`
      : `log in again with: ${renderLogin(url, name)}`;
  if (env.SLUICE_TOKEN) return `SLUICE_TOKEN is wrong or expired; set another one, or unset it and ${login}`;
  if (env.SLUICE_PASSWORD) return `SLUICE_EMAIL or SLUICE_PASSWORD is wrong; correct them, or unset them and ${login}`;
  return login;
}

/** What to do if there are no credentials for the service at `url`. */
export function adviseFirstLogin(url: string, source: CredentialSource): string {
  const name = findLoginName(url, source);
  const login =
    name === undefined ? `add tokenFile to ${source.profilePath}` : `log in with: ${renderLogin(url, name)}`;
  return `${login}, or set SLUICE_TOKEN`;
}

/** The profile that a login must write so that its token is used; undefined if another file takes precedence. */
function findLoginName(url: string, { env, profilePath, isOther }: CredentialSource): string | undefined {
  if (profilePath === undefined) return DEFAULT_PROFILE;
  if (isOther) return new URL(url).hostname.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '');
  const name = basename(profilePath, '.yaml');
  return profileFile(name, env) === profilePath ? name : undefined;
}

function renderLogin(url: string, name: string): string {
  const option = name === DEFAULT_PROFILE ? [] : ['--profile', name];
  return suggestCommand(['login', url].concat(option));
}
