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
import type { GlobalOptions } from './command-context.ts';
import { EXIT_CODE } from './exit-code.ts';
import type { OpenedService } from './opened-service.ts';
import type { Profile } from './profile.ts';
import type { Refusal } from './refusal.ts';

/**
 * Connects to the service that `--service` or the profile names. Credentials come from SLUICE_TOKEN, SLUICE_PASSWORD or
 * the profile's files, never from the command line, where any user of the machine could read them.
 */
export async function openRemoteService(
  url: string,
  options: { profile: Profile; flags: GlobalOptions; env: NodeJS.ProcessEnv },
): Promise<Result<OpenedService, Refusal>> {
  // The profile's credentials are for the profile's service: another one must never see them.
  const own = options.profile.service === undefined || sameOrigin(options.profile.service, url);
  const profile = own ? options.profile : {};
  const refuse = (reason: string) => fail({ exitCode: EXIT_CODE.refused, message: `Could not use ${url}: ${reason}` });
  let service: ContainerService;
  try {
    const credentials = readCredentials(profile, options.env);
    if (credentials === undefined)
      return refuse('no token and no login; set SLUICE_TOKEN, or tokenFile or email in the profile');
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

/** The one account that fits what was asked for; more than one is a question back to the user. */
async function findScope(
  service: ContainerService,
  wanted: { url: string; clusterID: string | undefined; accountID: string | undefined },
): Promise<Result<Scope, Refusal>> {
  const { url, clusterID, accountID } = wanted;
  if (clusterID !== undefined && accountID !== undefined) return ok({ clusterID, accountID });
  try {
    const accounts = await service.discovery.listAccounts(clusterID ?? '-');
    const fitting = accounts.filter((account) => accountID === undefined || account.accountID === accountID);
    const [only] = fitting;
    if (only !== undefined && fitting.length === 1) return ok(only);
    const names = fitting.map((account) => `--cluster ${account.clusterID} --account ${account.accountID}`);
    const message = names.length === 0 ? 'The service has no such account' : `Choose one:\n  ${names.join('\n  ')}`;
    return fail({ exitCode: EXIT_CODE.refused, message });
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return refuseService(url, error);
  }
}

/** Why a service cannot be worked with: 3 where asking later may help, else 2. */
export function refuseService(url: string, error: ServiceError): { ok: false; error: Refusal } {
  const away = isServiceError(error, 'UNREACHABLE', 'NO_REPLY', 'INVALID_REPLY', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED');
  const message = `Could not use ${url}: ${error.message}`;
  return fail({ exitCode: away ? EXIT_CODE.unreachable : EXIT_CODE.refused, message });
}
