import { Command, Option } from 'commander';
import type { AddCommand } from './add-command.ts';
import type { ServiceConfigOptions } from './commands/service-config.ts';
import type { UserAction } from './commands/user.ts';

/** Adds `serve` and what operators do beside it; returns the groups of commands, which the program is to take. */
export function addServing(add: AddCommand): Command[] {
  add('serve', 'serve the container-and-volume protocol v1rc1', async () => {
    const { serve } = await import('./commands/serve.ts');
    return (context, options) => serve(context, options);
  })
    .addOption(configOption())
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent', 'info');
  add('authority', 'print the path of the certificate that clients of exposed ports are to trust', async () => {
    const { showAuthority } = await import('./commands/service-config.ts');
    return (context, options) => showAuthority(context, options);
  }).addOption(configOption());
  add('doctor', 'say what this machine can run containers with, and what to install', async () => {
    const { doctor } = await import('./commands/doctor.ts');
    return (context, options) => doctor(context, options);
  });
  return [addUsers(add), addAccounts(add), addClusters(add), addInstanceTypes(add)];
}

function configOption(): Option {
  return new Option('--config <file>', 'clusters, accounts and listeners (docs/serve.md)').makeOptionMandatory();
}

function addUsers(add: AddCommand): Command {
  const group = new Command('user').description('the users of a service that sluice serve serves');
  const addUser = (usage: string, description: string, act: (email: string, account: string) => UserAction) =>
    add(
      usage,
      description,
      async (email, account) => {
        const { user } = await import('./commands/user.ts');
        return (context, options) => user(act(email!, account!), context, options);
      },
      group,
    ).addOption(configOption());
  addUser('list', 'list users and their accounts', () => ({ verb: 'list' }));
  addUser('add <email>', 'add a user; asks for the password', (email) => ({ verb: 'add', email })).option(
    '--name <name>',
    'for people',
  );
  addUser('password <email>', 'give a user another password', (email) => ({ verb: 'password', email }));
  addUser('grant <email> <account>', 'let a user use CLUSTER/ACCOUNT', (email, account) => ({
    verb: 'grant',
    email,
    account,
  }));
  addUser('revoke <email> <account>', 'undo grant', (email, account) => ({ verb: 'revoke', email, account }));
  addUser('remove <email>', 'remove a user; containers and volumes stay', (email) => ({ verb: 'remove', email }));
  return group;
}

/** What the commands that change a configuration are made of. */
type ServiceConfigModule = typeof import('./commands/service-config.ts');
type ServiceConfigWork = (
  module: ServiceConfigModule,
  args: readonly string[],
) => (...given: [Parameters<ServiceConfigModule['listConfig']>[1], ServiceConfigOptions]) => Promise<number>;

/** Adds commands to a group over the configuration file. */
function addToGroup(add: AddCommand, group: Command) {
  return (usage: string, description: string, work: ServiceConfigWork): Command =>
    add(
      usage,
      description,
      async (...args) => work(await import('./commands/service-config.ts'), args.flat()),
      group,
    ).addOption(configOption());
}

function addAccounts(add: AddCommand): Command {
  const group = new Command('account').description('the accounts in a service’s configuration');
  const addOne = addToGroup(add, group);
  addOne(
    'list',
    'list accounts as CLUSTER/ACCOUNT',
    ({ listConfig }) =>
      (...given) =>
        listConfig('accounts', ...given),
  );
  for (const [verb, type, what] of [
    ['add', 'addAccount', 'add an account, which users can then be granted'],
    ['remove', 'removeAccount', 'remove an account; its containers run on and its volumes stay, out of reach'],
  ] as const) {
    addOne(`${verb} <cluster/account>`, what, ({ parsePair, editServiceConfig }, [name]) => (...given) => {
      const pair = parsePair(name!);
      if (!pair.ok) return editServiceConfig(pair, ...given);
      const { clusterID, id: accountID } = pair.value;
      return editServiceConfig({ ok: true, value: { type, clusterID, accountID } }, ...given);
    });
  }
  return group;
}

function addClusters(add: AddCommand): Command {
  const group = new Command('cluster').description('the clusters in a service’s configuration');
  const addOne = addToGroup(add, group);
  addOne(
    'list',
    'list clusters',
    ({ listConfig }) =>
      (...given) =>
        listConfig('clusters', ...given),
  );
  addOne(
    'add <id> <field=value...>',
    'add a cluster; at least engine=ENGINE (docs/serve.md has the fields)',
    ({ parseCluster, editServiceConfig }, [id, ...fields]) =>
      (context, options) =>
        editServiceConfig(parseCluster(id!, fields, options.instanceType ?? []), context, options),
  ).addOption(
    new Option('--instance-type <id,field=value,...>', 'as small,cores=1,memoryGB=4; may be repeated')
      .argParser((text: string, before: string[] | undefined) => [...(before ?? []), text])
      .makeOptionMandatory(),
  );
  addOne(
    'remove <id>',
    'remove a cluster; what it holds stays on its disk',
    ({ editServiceConfig }, [clusterID]) =>
      (...given) =>
        editServiceConfig({ ok: true, value: { type: 'removeCluster', clusterID: clusterID! } }, ...given),
  );
  return group;
}

function addInstanceTypes(add: AddCommand): Command {
  const group = new Command('instance-type').description('the instance types in a service’s configuration');
  const addOne = addToGroup(add, group);
  addOne(
    'list',
    'list instance types as CLUSTER/TYPE',
    ({ listConfig }) =>
      (...given) =>
        listConfig('instanceTypes', ...given),
  );
  addOne(
    'add <cluster/type> <field=value...>',
    'add an instance type, as main/small cores=1 memoryGB=4',
    ({ parsePair, parseFields, editServiceConfig }, [name, ...texts]) =>
      (...given) => {
        const pair = parsePair(name!);
        if (!pair.ok) return editServiceConfig(pair, ...given);
        const fields = parseFields(pair.value.id, texts);
        if (!fields.ok) return editServiceConfig(fields, ...given);
        const { clusterID } = pair.value;
        return editServiceConfig(
          { ok: true, value: { type: 'addInstanceType', clusterID, fields: fields.value } },
          ...given,
        );
      },
  );
  addOne(
    'remove <cluster/type>',
    'remove an instance type; containers that have it run on',
    ({ parsePair, editServiceConfig }, [name]) =>
      (...given) => {
        const pair = parsePair(name!);
        if (!pair.ok) return editServiceConfig(pair, ...given);
        const { clusterID, id: typeID } = pair.value;
        return editServiceConfig({ ok: true, value: { type: 'removeInstanceType', clusterID, typeID } }, ...given);
      },
  );
  return group;
}
