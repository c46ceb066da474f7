import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Account } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { openUserDirectory, type ServiceConfig, type UserDirectory } from '@sluice/service';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { type InputOptions, readPassword } from '../context/read-password.ts';
import { reject } from '../context/reject.ts';
import { readServiceConfig } from '../hosting/read-service-config.ts';
import { renderValue } from '../json/render-value.ts';
import { renderTable } from '../text/render-table.ts';

/** `name` is the display name of a new user. */
export interface UserOptions extends GlobalOptions, InputOptions {
  readonly config: string;
  readonly name?: string;
}

/** A change of one user, or the list of all; `account` is `CLUSTER/ACCOUNT`. */
export type UserAction = { readonly verb: 'list' } | UserChange;

type UserChange =
  | { readonly verb: 'add' | 'password' | 'remove'; readonly email: string }
  | { readonly verb: 'grant' | 'revoke'; readonly email: string; readonly account: string };

/** `sluice admin user …`: lists or changes the users of a service, also while it runs. */
export async function user(action: UserAction, context: CommandContext, options: UserOptions): Promise<number> {
  const config = readServiceConfig(options.config, context);
  if (!config.ok) return reject(config.error, { context, options });
  const fault = findOwnerFault(config.value.service.root);
  if (fault !== undefined) return reject({ exitCode: EXIT_CODE.rejected, message: fault }, { context, options });
  const directory = await openUserDirectory(config.value.service.root);
  try {
    if (action.verb === 'list') {
      context.terminal.out(renderUsers(directory, options));
      return EXIT_CODE.ok;
    }
    const done = await perform(action, { directory, config: config.value.service, context, options });
    if (!done.ok) return reject(done.error, { context, options });
    context.terminal.out(options.json === true ? renderChange(action) : done.value);
    return EXIT_CODE.ok;
  } catch (error) {
    return reject({ exitCode: EXIT_CODE.rejected, message: (error as Error).message }, { context, options });
  } finally {
    await directory.close();
  }
}

/**
 * Rejects root if another user owns the store: the service runs as that user and could not read files that root
 * creates.
 */
function findOwnerFault(root: string): string | undefined {
  let there = root;
  while (!existsSync(there)) there = dirname(there);
  const { uid } = statSync(there);
  if (process.getuid?.() !== 0 || uid === 0) return undefined;
  return `could not open the users of ${root} as root: they belong to user ${uid}; run the command as that user (runuser -u NAME -- …)`;
}

async function perform(
  action: UserChange,
  {
    directory,
    config,
    context,
    options,
  }: { directory: UserDirectory; config: ServiceConfig; context: CommandContext; options: UserOptions },
): Promise<Result<string, CommandError>> {
  switch (action.verb) {
    case 'add': {
      const password = await readPassword(context, options);
      await directory.add({
        email: action.email,
        password,
        ...(options.name === undefined ? {} : { name: options.name }),
      });
      return ok(`added ${action.email}\n`);
    }
    case 'password':
      await directory.setPassword(action.email, await readPassword(context, options));
      return ok(`changed the password of ${action.email}; its earlier tokens are no longer valid\n`);
    case 'remove':
      await directory.remove(action.email);
      return ok(`removed ${action.email}\n`);
    default: {
      const account = parseAccount(action.account, config);
      if (!account.ok) return account;
      await directory[action.verb](action.email, account.value);
      return ok(`${action.email} can ${action.verb === 'grant' ? 'now' : 'no longer'} use ${action.account}\n`);
    }
  }
}

function renderChange({ verb, email, ...others }: UserChange): string {
  const [clusterId, accountId] = 'account' in others ? others.account.split('/') : [];
  const place = clusterId === undefined || accountId === undefined ? {} : { clusterId, accountId };
  return renderValue('change', { resource: 'user', action: verb, email, ...place });
}

function renderUsers(directory: UserDirectory, options: UserOptions): string {
  const users = directory.list();
  if (options.json === true) {
    return users
      .map(({ userId, accounts, email, name }) => {
        const scopes = accounts.map(({ clusterID, accountID }) => ({ clusterId: clusterID, accountId: accountID }));
        return renderValue('user', { userId: userId, email, name, accounts: scopes });
      })
      .join('');
  }
  const rows = users.map(({ email, name, accounts }) => [
    email,
    accounts.map(({ clusterID, accountID }) => `${clusterID}/${accountID}`).join(', '),
    name,
  ]);
  return renderTable([['EMAIL', 'ACCOUNTS', 'NAME'], ...rows]);
}

/** Parses `CLUSTER/ACCOUNT`; the configuration must define it. */
function parseAccount(text: string, config: ServiceConfig): Result<Account, CommandError> {
  const known = config.clusters.flatMap(({ id, accounts }) =>
    accounts.map((accountID) => ({ clusterID: id, accountID })),
  );
  const found = known.find(({ clusterID, accountID }) => `${clusterID}/${accountID}` === text);
  if (found !== undefined) return ok(found);
  const names = known.map(({ clusterID, accountID }) => `${clusterID}/${accountID}`).join(', ');
  return fail({
    exitCode: EXIT_CODE.rejected,
    message: `could not find account ${text}; the configuration defines ${names || 'none'}`,
  });
}
