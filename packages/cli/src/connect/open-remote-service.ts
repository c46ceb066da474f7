import { readFileSync } from 'node:fs';
import {
  type ContainerService,
  type Credentials,
  createHttpConnection,
  type HttpConnection,
  type HttpServiceAddress,
  isServiceError,
  type Scope,
} from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import type { GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import type { Profile } from '../home/profile.ts';
import { adviseFirstLogin, adviseLogin } from './advise-login.ts';
import { chooseScope, type WantedScope } from './choose-scope.ts';
import { chooseSetting } from './choose-setting.ts';
import type { OpenedService } from './opened-service.ts';
import { rejectService } from './reject-service.ts';
import { createRunServer, type RunServer } from './run-server.ts';

/** A service at an address. */
export interface RemoteService extends OpenedService {
  /** For the user: how to log in again. */
  readonly loginAdvice: string;
  readonly runServer: RunServer;
}

/** See `HttpServiceAddress` for what is reported. */
interface RemoteOptions extends Pick<HttpServiceAddress, 'onWait' | 'onReply'> {
  readonly profile: Profile;
  readonly profilePath?: string | undefined;
  readonly flags: GlobalOptions;
  readonly env: NodeJS.ProcessEnv;
}

/** A connection whose login has not been used yet. */
export interface RemoteConnection extends HttpConnection {
  readonly credentials: Credentials;
  readonly loginAdvice: string;
  /** The profile, if it is that of the service. */
  readonly profile: Profile;
}

/**
 * Connects to the service that `--service` or the profile names, and chooses its account. Credentials come from SLUICE_TOKEN,
 * SLUICE_PASSWORD or the profile's files, never from the command line, where any user of the machine could read them.
 */
export async function openRemoteService(
  url: string,
  options: RemoteOptions,
): Promise<Result<RemoteService, CommandError>> {
  const connected = connectRemote(url, options);
  if (!connected.ok) return connected;
  const { service, api, loginAdvice, profile } = connected.value;
  const settings = { flags: options.flags, env: options.env, profile };
  const wanted = {
    url,
    clusterID: chooseSetting('cluster', settings),
    accountID: chooseSetting('account', settings),
  };
  const scope = await findScope(service, { ...wanted, loginAdvice });
  if (!scope.ok) {
    await service.close();
    return scope;
  }
  const runServer = createRunServer({ url, scope: scope.value, api });
  return ok({ service, scope: scope.value, loginAdvice, runServer, close: () => service.close() });
}

/** As `openRemoteService`, without choosing an account. Sends nothing; the caller closes the service. */
export function connectRemote(url: string, options: RemoteOptions): Result<RemoteConnection, CommandError> {
  // The credentials of a profile are only sent to the profile's own service.
  const own = options.profile.service === undefined || sameOrigin(options.profile.service, url);
  const profile = own ? options.profile : {};
  const { env, onWait, onReply } = options;
  const source = { env, profilePath: options.profilePath, isOther: !own };
  const reject = (reason: string) => fail({ exitCode: EXIT_CODE.rejected, message: `could not use ${url}: ${reason}` });
  if (!/^https?:\/\//.test(url)) return reject('the address must start with https:// or http://');
  try {
    const credentials = readCredentials(profile, env);
    if (credentials === undefined) {
      const others = own ? '' : `; the credentials of the profile are only for ${options.profile.service}`;
      return reject(`no credentials; ${adviseFirstLogin(url, source)}${others}`);
    }
    const connection = createHttpConnection({
      baseUrl: url,
      ...(onWait && { onWait }),
      ...(onReply && { onReply }),
      ...(profile.authUrl === undefined ? {} : { authUrl: profile.authUrl }),
      ...(profile.tokenHeader === undefined ? {} : { tokenHeader: profile.tokenHeader }),
      ...(profile.caFile === undefined ? {} : { ca: readFileSync(profile.caFile, 'utf8') }),
      ...credentials,
    });
    return ok({ ...connection, credentials, loginAdvice: adviseLogin(url, source), profile });
  } catch (error) {
    return reject((error as Error).message);
  }
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
async function findScope(
  service: ContainerService,
  wanted: WantedScope & { loginAdvice: string },
): Promise<Result<Scope, CommandError>> {
  const { url, clusterID, accountID, loginAdvice } = wanted;
  if (clusterID !== undefined && accountID !== undefined) return ok({ clusterID, accountID });
  try {
    return chooseScope(await service.discovery.listAccounts(clusterID ?? '-'), wanted);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return rejectService(url, error, { login: loginAdvice });
  }
}
