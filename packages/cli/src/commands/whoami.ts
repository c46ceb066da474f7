import { isServiceError, type Scope } from '@sluice/client';
import { chooseService } from '../connect/choose-service.ts';
import { placeOfEngine } from '../connect/embedded-engine.ts';
import { connectRemote, type RemoteConnection } from '../connect/open-remote-service.ts';
import { findEmbeddedFault, showIgnored } from '../connect/open-service.ts';
import { rejectService } from '../connect/reject-service.ts';
import { reportRequests } from '../connect/report-requests.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { renderValue } from '../json/render-value.ts';
import { hideLogin } from '../text/hide-login.ts';
import { renderTable } from '../text/render-table.ts';

/** `sluice whoami`: the service that commands use here, the login, and the accounts that it may use. */
export async function whoami(context: CommandContext, options: GlobalOptions): Promise<number> {
  const chosen = chooseService(options, context);
  if (!chosen.ok) return reject(chosen.error, { context, options });
  const { home, url, engine, profilePath } = chosen.value;
  const file = profilePath === undefined ? {} : { file: profilePath };
  if (url === undefined) {
    const fault = findEmbeddedFault(options, engine);
    if (fault !== undefined) return reject({ exitCode: EXIT_CODE.rejected, message: fault }, { context, options });
    const accounts = [placeOfEngine(engine).scope];
    return print({ home, ...file, accounts }, context, options);
  }
  showIgnored(chosen.value, context);
  const reports = reportRequests(context.terminal, options);
  const { profile } = chosen.value;
  const connected = connectRemote(url, { profile, profilePath, flags: options, env: context.env, ...reports });
  if (!connected.ok) return reject(connected.error, { context, options });
  const { service, loginAdvice } = connected.value;
  try {
    const accounts = await service.discovery.listAccounts('-');
    const email = emailOf(connected.value, context.env);
    const login = email === undefined ? {} : { email };
    return print({ service: hideLogin(url), home, ...file, ...login, accounts }, context, options);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return reject(rejectService(url, error, { login: loginAdvice }).error, { context, options });
  } finally {
    await service.close();
  }
}

/** Of a token of the environment, it is not known. */
function emailOf({ credentials, profile }: RemoteConnection, env: NodeJS.ProcessEnv): string | undefined {
  return credentials.login?.email ?? (env.SLUICE_TOKEN ? undefined : profile.email);
}

interface Identity {
  /** Absent: the embedded service. */
  readonly service?: string;
  readonly home: string;
  readonly file?: string;
  readonly email?: string;
  readonly accounts: readonly Scope[];
}

function print({ accounts, ...identity }: Identity, { terminal }: CommandContext, options: GlobalOptions): number {
  const { service, home, file, email } = identity;
  if (options.json === true) {
    const scopes = accounts.map(({ clusterID, accountID }) => ({ clusterId: clusterID, accountId: accountID }));
    terminal.out(renderValue('identity', { ...identity, accounts: scopes }));
    return EXIT_CODE.ok;
  }
  const login = service === undefined ? 'none needed' : (email ?? 'a token');
  terminal.out(
    renderTable([
      ['service', service ?? `the embedded service of ${home}`],
      ['login', login],
      ...(file === undefined ? [] : [['profile', file]]),
      ...accounts.map(({ clusterID, accountID }) => ['account', `${clusterID}/${accountID}`]),
    ]),
  );
  if (accounts.length === 0) terminal.out('this login has no account; ask the operator of the service for one\n');
  return EXIT_CODE.ok;
}
