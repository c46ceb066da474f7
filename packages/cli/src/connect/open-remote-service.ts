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
      return refuse(`no credentials; set SLUICE_TOKEN, or tokenFile or email in the profile${others}`);
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
  const wanted = {
    url,
    clusterID: options.flags.cluster ?? profile.cluster,
    accountID: options.flags.account ?? profile.account,
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

/** Finds the only account that matches; if there are several, the refusal lists them. */
async function findScope(
  service: ContainerService,
  wanted: { url: string; clusterID: string | undefined; accountID: string | undefined },
): Promise<Result<Scope, CommandRefusal>> {
  const { url, clusterID, accountID } = wanted;
  if (clusterID !== undefined && accountID !== undefined) return ok({ clusterID, accountID });
  try {
    const accounts = await service.discovery.listAccounts(clusterID ?? '-');
    const fitting = accounts.filter((account) => accountID === undefined || account.accountID === accountID);
    const [only] = fitting;
    if (only !== undefined && fitting.length === 1) return ok(only);
    const choices = fitting.length > 0 ? fitting : accounts;
    const names = choices
      .map((account) => `\n  --cluster ${account.clusterID} --account ${account.accountID}`)
      .join('');
    const missing =
      accountID === undefined ? 'this login has no account there' : `this login has no account ${accountID}`;
    if (choices.length === 0)
      return fail({
        exitCode: EXIT_CODE.refused,
        message: `could not choose an account: ${missing}; ask the operator of ${url}`,
      });
    const why = fitting.length > 0 ? 'several accounts match' : missing;
    return fail({ exitCode: EXIT_CODE.refused, message: `could not choose an account: ${why}; choose one:${names}` });
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
