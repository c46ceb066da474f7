import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createHttpService, type HttpServiceAddress, isServiceError, obtainToken, type Scope } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { chooseScope } from '../connect/choose-scope.ts';
import { rejectService } from '../connect/reject-service.ts';
import { reportRequests } from '../connect/report-requests.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';
import { type InputOptions, readEmail, readPassword, readToken } from '../context/read-password.ts';
import { reject } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { DEFAULT_PROFILE } from '../home/find-profile.ts';
import { openProfileDraft, type ProfileDraft, saveProfile } from '../home/save-profile.ts';
import { renderValue } from '../json/render-value.ts';
import { renderTable } from '../text/render-table.ts';

/** `profile` is the name of the profile to write; without `tokenStdin`, e-mail and password are exchanged for a token. */
export interface LoginOptions extends GlobalOptions, InputOptions {
  readonly profile: string;
  readonly tokenStdin?: boolean;
  readonly authUrl?: string;
  readonly caFile?: string;
}

/** A token that the service accepts, and the account that it gives access to. */
interface Access {
  readonly token: string;
  /** Undefined if the user gave only a token. */
  readonly email?: string;
  readonly scope: Scope;
}

/** `sluice login`: obtains a token of a service and writes a profile with it. Nothing is written if that fails. */
export async function login(url: string, context: CommandContext, options: LoginOptions): Promise<number> {
  const { terminal, env, cwd } = context;
  const draft = openProfileDraft({
    name: options.profile,
    service: url,
    ...(options.authUrl !== undefined && { authUrl: options.authUrl }),
    ...(options.caFile !== undefined && { caFile: resolve(cwd, options.caFile) }),
    env,
  });
  if (!draft.ok) return reject(draft.error, { context, options });
  const access = await obtainAccess(draft.value, { context, options });
  if (!access.ok) return reject(access.error, { context, options });
  const { file } = draft.value;
  try {
    await saveProfile(draft.value, access.value);
  } catch (error) {
    const message = `could not write the profile ${file}: ${describeSystemError(error)}`;
    return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
  }
  const { email, scope } = access.value;
  if (options.json === true) {
    const place = { clusterId: scope.clusterID, accountId: scope.accountID };
    const user = email === undefined ? {} : { email };
    terminal.out(renderValue('login', { profile: options.profile, file, service: url, ...user, ...place }));
    return EXIT_CODE.ok;
  }
  const rows = [['profile', file], ['service', url], ...(email === undefined ? [] : [['user', email]])];
  terminal.out(renderTable([...rows, ['account', `${scope.clusterID}/${scope.accountID}`]]));
  const use = options.profile === DEFAULT_PROFILE ? {} : { profile: options.profile };
  const next = [['plan'], ['run'], ['runs']].map((words) => `  ${suggestCommand(words, use)}\n`);
  terminal.out(`try next, in the directory of a pipeline.yaml:\n${next.join('')}`);
  return EXIT_CODE.ok;
}

async function obtainAccess(
  { settings }: ProfileDraft,
  { context, options }: { context: CommandContext; options: LoginOptions },
): Promise<Result<Access, CommandError>> {
  const { service: url } = settings;
  const stop = (reason: string, exitCode: ExitCode = EXIT_CODE.rejected) =>
    fail({ exitCode, message: `could not log in at ${url}: ${reason}` });
  try {
    const address: HttpServiceAddress = {
      ...reportRequests(context.terminal, options),
      baseUrl: url,
      ...(settings.authUrl !== undefined && { authUrl: settings.authUrl }),
      ...(settings.tokenHeader !== undefined && { tokenHeader: settings.tokenHeader }),
      ...(settings.caFile !== undefined && { ca: readFileSync(settings.caFile, 'utf8') }),
    };
    const isAsked = options.tokenStdin !== true && options.input !== false && context.terminal.interactive;
    if (isAsked) await checkServer(address);
    const email = options.tokenStdin === true ? undefined : await readEmail(context, options);
    if (email === '') return stop('no e-mail address; set SLUICE_EMAIL, or pass a token with --token-stdin');
    const token =
      email === undefined
        ? await readToken(context, options)
        : await obtainToken({ ...address, login: { email, password: await readPassword(context, options) } });
    if (!/^[\x21-\x7e]+$/.test(token)) return stop('standard input does not contain a token on its first line');
    const scope = await findAccount({ ...address, token }, options);
    return scope.ok ? ok({ token, ...(email !== undefined && { email }), scope: scope.value }) : scope;
  } catch (error) {
    if (!isServiceError(error)) return stop(describeSystemError(error));
    const rejected = options.tokenStdin === true ? 'the token' : 'the e-mail address or the password';
    if (error.code === 'UNAUTHENTICATED') return stop(`the service does not accept ${rejected}`, EXIT_CODE.unreachable);
    return rejectService(url, error, { trust: 'name the certificate of its authority with --ca-file' });
  }
}

/** Before the user types anything: throws `ServiceError` if no service answers at the address. */
async function checkServer(address: HttpServiceAddress): Promise<void> {
  const service = createHttpService({ ...address, token: 'none' });
  try {
    await service.discovery.listAccounts('-');
  } catch (error) {
    if (!isServiceError(error) || (error.code !== 'UNAUTHENTICATED' && error.code !== 'PERMISSION_DENIED')) throw error;
  } finally {
    await service.close();
  }
}

/** Asks the service, so that a token that it does not accept is not saved. */
async function findAccount(
  address: HttpServiceAddress & { token: string },
  { cluster, account }: LoginOptions,
): Promise<Result<Scope, CommandError>> {
  const service = createHttpService(address);
  try {
    const accounts = await service.discovery.listAccounts(cluster ?? '-');
    return chooseScope(accounts, { url: address.baseUrl, clusterID: cluster, accountID: account });
  } finally {
    await service.close();
  }
}
