import type { ConfigEdit } from '@sluice/service';
import { Command, Option } from 'commander';
import type { ConfigTable, ServiceConfigOptions } from '../commands/service-config.ts';
import type { UserAction } from '../commands/user.ts';
import type { CommandContext } from '../context/command-context.ts';
import type { AddCommand } from './add-command.ts';

/** Adds `serve` and what operators do beside it; returns the groups of commands, which the program is to take. */
export function addServiceCommands(add: AddCommand): Command[] {
  add('serve', 'serve the container-and-volume protocol v1rc1', async () => {
    const { serve } = await import('../commands/serve.ts');
    return (context, options) => serve(context, options);
  })
    .addOption(configOption())
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent', 'info');
  add('authority', 'print the path of the certificate that clients of exposed ports are to trust', async () => {
    const { showAuthority } = await import('../commands/service-config.ts');
    return (context, options) => showAuthority(context, options);
  }).addOption(configOption());
  add('doctor', 'say what this machine can run containers with, and what to install', async () => {
    const { doctor } = await import('../commands/doctor.ts');
    return (context, options) => doctor(context, options);
  });
  return [addUserCommands(add), ...CONFIG_GROUPS.map((group) => addConfigCommands(add, group))];
}

function configOption(): Option {
  return new Option('--config <file>', 'clusters, accounts and listeners (docs/serve.md)').makeOptionMandatory();
}

function addUserCommands(add: AddCommand): Command {
  const group = new Command('user').description('the users of a service that sluice serve serves');
  const addUser = (usage: string, description: string, act: (email: string, account: string) => UserAction) =>
    add(
      usage,
      description,
      async (email, account) => {
        const { user } = await import('../commands/user.ts');
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

/** What can be listed and changed in a configuration by command. */
const CONFIG_GROUPS: readonly ConfigGroup[] = [
  {
    name: 'account',
    description: 'the accounts in a service’s configuration',
    table: 'accounts',
    list: 'list accounts as CLUSTER/ACCOUNT',
    edits: [
      ['add <cluster/account>', 'add an account, which users can then be granted', 'addAccount'],
      [
        'remove <cluster/account>',
        'remove an account; its containers run on and its volumes stay, out of reach',
        'removeAccount',
      ],
    ],
  },
  {
    name: 'cluster',
    description: 'the clusters in a service’s configuration',
    table: 'clusters',
    list: 'list clusters',
    edits: [
      [
        'add <id> <field=value...>',
        'add a cluster; at least engine=ENGINE (docs/serve.md has the fields)',
        'addCluster',
      ],
      ['remove <id>', 'remove a cluster; what it holds stays on its disk', 'removeCluster'],
    ],
  },
  {
    name: 'instance-type',
    description: 'the instance types in a service’s configuration',
    table: 'instanceTypes',
    list: 'list instance types as CLUSTER/TYPE',
    edits: [
      [
        'add <cluster/type> <field=value...>',
        'add an instance type, as main/small cores=1 memoryGB=4',
        'addInstanceType',
      ],
      ['remove <cluster/type>', 'remove an instance type; containers that have it run on', 'removeInstanceType'],
    ],
  },
];

interface ConfigGroup {
  readonly name: string;
  readonly description: string;
  readonly table: ConfigTable;
  /** What `list` does. */
  readonly list: string;
  readonly edits: readonly (readonly [usage: string, description: string, type: ConfigEdit['type']])[];
}

function addConfigCommands(add: AddCommand, { name, description, table, list, edits }: ConfigGroup): Command {
  const group = new Command(name).description(description);
  const load = async () => {
    const { listConfig } = await import('../commands/service-config.ts');
    return (context: CommandContext, options: ServiceConfigOptions) => listConfig(table, context, options);
  };
  add('list', list, load, group).addOption(configOption());
  for (const [usage, what, type] of edits) {
    const command = add(
      usage,
      what,
      async (...args) => {
        const { editServiceConfig } = await import('../commands/service-config.ts');
        return (context, options) => editServiceConfig({ type, words: args.flat() }, context, options);
      },
      group,
    ).addOption(configOption());
    if (type === 'addCluster') command.addOption(instanceTypeOption());
  }
  return group;
}

function instanceTypeOption(): Option {
  return new Option('--instance-type <id,field=value,...>', 'as small,cores=1,memoryGB=4; may be repeated')
    .argParser((text: string, before: string[] | undefined) => [...(before ?? []), text])
    .makeOptionMandatory();
}
