import type { ConfigEdit } from '@sluice/service';
import { Command, Option } from 'commander';
import type { ConfigTable, ServiceConfigOptions } from '../commands/service-config.ts';
import type { UserAction } from '../commands/user.ts';
import type { CommandContext } from '../context/command-context.ts';
import type { AddCommand, AddCommandsTo } from './add-command.ts';

/** Adds `serve` and the other commands for operators. Returns the command groups, which the caller adds to the program. */
export function addServiceCommands(add: AddCommand, addTo: AddCommandsTo): Command[] {
  add('serve', 'serve the container-and-volume protocol v1rc1', async () => {
    const { serve } = await import('../commands/serve.ts');
    return (context, options) => serve(context, options);
  })
    .addOption(configOption())
    .option('--log-level <level>', 'set the log level: trace, debug, info, warn, error or silent', 'info');
  add('authority', 'print the path of the certificate that clients of exposed ports must trust', async () => {
    const { showAuthority } = await import('../commands/service-config.ts');
    return (context, options) => showAuthority(context, options);
  }).addOption(configOption());
  add('doctor', 'show which container engines work on this machine, and what to install', async () => {
    const { doctor } = await import('../commands/doctor.ts');
    return (context, options) => doctor(context, options);
  });
  return [addUserCommands(addTo), ...CONFIG_GROUPS.map((group) => addConfigCommands(addTo, group))];
}

function configOption(): Option {
  return new Option(
    '--config <file>',
    'read clusters, accounts and listeners from this file (docs/serve.md)',
  ).makeOptionMandatory();
}

function addUserCommands(addTo: AddCommandsTo): Command {
  const group = new Command('user').description('manage the users of a service that `sluice serve` runs');
  const add = addTo(group);
  const addUser = (usage: string, description: string, act: (email: string, account: string) => UserAction) =>
    add(usage, description, async (email, account) => {
      const { user } = await import('../commands/user.ts');
      return (context, options) => user(act(email!, account!), context, options);
    }).addOption(configOption());
  addUser('list', 'list users and their accounts', () => ({ verb: 'list' }));
  addUser('add <email>', 'add a user; prompt for the password', (email) => ({ verb: 'add', email })).option(
    '--name <name>',
    'set the display name of the user',
  );
  addUser('password <email>', 'change the password of a user', (email) => ({ verb: 'password', email }));
  addUser('grant <email> <account>', 'allow a user to use CLUSTER/ACCOUNT', (email, account) => ({
    verb: 'grant',
    email,
    account,
  }));
  addUser('revoke <email> <account>', 'revoke access to CLUSTER/ACCOUNT', (email, account) => ({
    verb: 'revoke',
    email,
    account,
  }));
  addUser('remove <email>', 'remove a user; keep containers and volumes', (email) => ({ verb: 'remove', email }));
  return group;
}

/** The parts of a service configuration that commands can list and edit. */
const CONFIG_GROUPS: readonly ConfigGroup[] = [
  {
    name: 'account',
    description: 'manage the accounts in the configuration of a service',
    table: 'accounts',
    list: 'list accounts as CLUSTER/ACCOUNT',
    edits: [
      ['add <cluster/account>', 'add an account; then grant it to users', 'addAccount'],
      [
        'remove <cluster/account>',
        'remove an account; its containers keep running and its volumes stay, but are not accessible',
        'removeAccount',
      ],
    ],
  },
  {
    name: 'cluster',
    description: 'manage the clusters in the configuration of a service',
    table: 'clusters',
    list: 'list clusters',
    edits: [
      [
        'add <id> <field=value...>',
        'add a cluster; engine=ENGINE is required (docs/serve.md lists the fields)',
        'addCluster',
      ],
      ['remove <id>', 'remove a cluster; keep its data on disk', 'removeCluster'],
    ],
  },
  {
    name: 'instance-type',
    description: 'manage the instance types in the configuration of a service',
    table: 'instanceTypes',
    list: 'list instance types as CLUSTER/TYPE',
    edits: [
      [
        'add <cluster/type> <field=value...>',
        'add an instance type, for example main/small cores=1 memoryGB=4',
        'addInstanceType',
      ],
      ['remove <cluster/type>', 'remove an instance type; its containers keep running', 'removeInstanceType'],
    ],
  },
];

interface ConfigGroup {
  readonly name: string;
  readonly description: string;
  readonly table: ConfigTable;
  /** Description of the `list` command. */
  readonly list: string;
  readonly edits: readonly (readonly [usage: string, description: string, type: ConfigEdit['type']])[];
}

function addConfigCommands(addTo: AddCommandsTo, { name, description, table, list, edits }: ConfigGroup): Command {
  const group = new Command(name).description(description);
  const add = addTo(group);
  const load = async () => {
    const { listConfig } = await import('../commands/service-config.ts');
    return (context: CommandContext, options: ServiceConfigOptions) => listConfig(table, context, options);
  };
  add('list', list, load).addOption(configOption());
  for (const [usage, what, type] of edits) {
    const command = add(usage, what, async (...args) => {
      const { editServiceConfig } = await import('../commands/service-config.ts');
      return (context, options) => editServiceConfig({ type, words: args.flat() }, context, options);
    }).addOption(configOption());
    if (type === 'addCluster') command.addOption(instanceTypeOption());
  }
  return group;
}

function instanceTypeOption(): Option {
  return new Option(
    '--instance-type <id,field=value,...>',
    'add an instance type, for example small,cores=1,memoryGB=4; repeatable',
  )
    .argParser((text: string, before: string[] | undefined) => [...(before ?? []), text])
    .makeOptionMandatory();
}
