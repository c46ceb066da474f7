import { readFileSync } from 'node:fs';
import {
  type ContainerService,
  type Credentials,
  createHttpService,
  isServiceError,
  type Scope,
  type ServiceError,
} from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import type { GlobalOptions } from '../context/command-context.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { LOGIN_ADVICE } from '../context/refuse.ts';
import type { Profile } from '../home/profile.ts';
import { chooseScope, type WantedScope } from './choose-scope.ts';
import { chooseSetting } from './choose-setting.ts';
import type { OpenedService } from './opened-service.ts';

/**
 * Connects to the service that `--service` or the profile names. Credentials come from SLUICE_TOKEN, SLUICE_PASSWORD or
 * the profile's files, never from the command line, where any user of the machine could read them.
 */
export async function openRemoteService(
  url: string,
  options: { profile: Profile; flags: GlobalOptions; env: NodeJS.ProcessEnv },
): Promise<Result<OpenedService, CommandRefusal>> {
  // The credentials of a profile are only sent to the profile's own service.
  const own = options.profile.service === undefined || sameOrigin(options.profile.service, url);
  const profile = own ? options.profile : {};
  const refuse = (reason: string) => fail({ exitCode: EXIT_CODE.refused, message: `could not use ${url}: ${reason}` });
  if (!/^https?:\/\//.test(url)) return refuse('the address must start with https:// or http://');
  let service: ContainerService;
  try {
    const credentials = readCredentials(profile, options.env);
    if (credentials === undefined) {
      const others = own ? '' : `; the credentials of the profile are only for ${options.profile.service}`;
      return refuse(`no credentials; log in with: sluice login ${url}, or set SLUICE_TOKEN${others}`);
    }
    service = createHttpService({
      baseUrl: url,
      ...(profile.authUrl === undefined ? {} : { authUrl: profile.authUrl }),
      ...(profile.tokenHeader === undefined ? {} : { tokenHeader: profile.tokenHeader }),
      ...(profile.caFile === undefined ? {} : { ca: readFileSync(profile.caFile, 'utf8') }),
      ...credentials,
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
  const settings = { ...options, profile };
  const wanted = {
    url,
    clusterID: chooseSetting('cluster', settings),
    accountID: chooseSetting('account', settings),
  };
  const scope = await findScope(service, wanted);
  if (!scope.ok) {
    await service.close();
    return scope;
  }
  return ok({ service, scope: scope.value, close: () => service.close() });
}

function readCredentials(profile: Profile, env: NodeJS.ProcessEnv): Credentials | undefined {
  if (env.SLUICE_TOKEN) return { token: env.SLUICE_TOKEN };
  const email = env.SLUICE_EMAIL || profile.email;
  const password = env.SLUICE_PASSWORD || readSecretFile(profile.passwordFile);
  if (email !== undefined && password !== undefined) return { login: { email, password } };
  const token = readSecretFile(profile.tokenFile);
  return token === undefined ? undefined : { token };
}

function readSecretFile(path: string | undefined): string | undefined {
  return path === undefined ? undefined : readFileSync(path, 'utf8').trimEnd();
}

function sameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}

/** Asks the service for the accounts of the login, unless the user has named both cluster and account. */
async function findScope(service: ContainerService, wanted: WantedScope): Promise<Result<Scope, CommandRefusal>> {
  const { url, clusterID, accountID } = wanted;
  if (clusterID !== undefined && accountID !== undefined) return ok({ clusterID, accountID });
  try {
    return chooseScope(await service.discovery.listAccounts(clusterID ?? '-'), wanted);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return refuseService(url, error);
  }
}

/** Why a service cannot be used. The exit code is 3 if a later attempt or another login may help, else 2. */
export function refuseService(url: string, error: ServiceError): { ok: false; error: CommandRefusal } {
  const away = isServiceError(error, 'UNREACHABLE', 'NO_REPLY', 'INVALID_REPLY', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED');
  const isRefused = error.code === 'UNAUTHENTICATED';
  const advice = isRefused ? LOGIN_ADVICE : CERTIFICATE_ADVICE.find(([code]) => error.message.includes(code))?.[1];
  const message = `could not use ${url}: ${error.message}${advice === undefined ? '' : `; ${advice}`}`;
  return fail({ exitCode: away || isRefused ? EXIT_CODE.unreachable : EXIT_CODE.refused, message });
}

const UNTRUSTED =
  'this machine does not trust its certificate: set caFile in the profile to the certificate of its authority';

/** By error code of Node.js or OpenSSL. */
const CERTIFICATE_ADVICE: readonly (readonly [code: string, advice: string])[] = [
  ['SELF_SIGNED_CERT', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER', UNTRUSTED],
  ['ALTNAME_INVALID', 'its certificate is for another name: use the name in the certificate'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired: the operator must renew it'],
];
