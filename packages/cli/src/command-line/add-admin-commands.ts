import type { ConfigEdit } from '@sluice/service';
import { type Command, Option } from 'commander';
import type { ConfigTable, ServiceConfigOptions } from '../commands/service-config.ts';
import type { UserAction } from '../commands/user.ts';
import type { CommandContext } from '../context/command-context.ts';
import type { AddCommand, AddCommandsTo } from './add-command.ts';
import { addText, configOption, inputOption } from './command-options.ts';

/** Adds the group `admin`, which edits the configuration and the users of a service. */
export function addAdminCommands(program: Command, addTo: AddCommandsTo): void {
  const admin = program.command('admin').description('edit the configuration and the users of a service');
  addUserCommands(addTo(admin.command('user').description('manage the users of a service that `sluice serve` runs')));
  for (const group of CONFIG_GROUPS) {
    addConfigCommands(addTo(admin.command(group.name).description(group.description)), group);
  }
  addTo(admin)({
    usage: 'certificate',
    description: 'print the path of the certificate that clients of exposed ports must trust',
    options: [configOption()],
    load: async () => {
      const { showCertificate } = await import('../commands/service-config.ts');
      return (context, options) => showCertificate(context, options);
    },
  });
}

function addUserCommands(add: AddCommand): void {
  const addUser = (
    [usage, description]: readonly [usage: string, description: string],
    act: (email: string, account: string) => UserAction,
    options: readonly Option[] = [],
  ) =>
    add({
      usage,
      description,
      options: [...options, configOption()],
      load: async (email, account) => {
        const { user } = await import('../commands/user.ts');
        return (context, given) => user(act(email!, account!), context, given);
      },
    });
  addUser(['list', 'list users and their accounts'], () => ({ verb: 'list' }));
  addUser(['add <email>', 'add a user; prompt for the password'], (email) => ({ verb: 'add', email }), [
    new Option('--name <name>', 'set the display name of the user'),
    inputOption(),
  ]);
  addUser(['password <email>', 'change the password of a user'], (email) => ({ verb: 'password', email }), [
    inputOption(),
  ]);
  addUser(['grant <email> <account>', 'allow a user to use CLUSTER/ACCOUNT'], (email, account) => ({
    verb: 'grant',
    email,
    account,
  }));
  addUser(['revoke <email> <account>', 'revoke access to CLUSTER/ACCOUNT'], (email, account) => ({
    verb: 'revoke',
    email,
    account,
  }));
  addUser(['remove <email>', 'remove a user; keep containers and volumes'], (email) => ({ verb: 'remove', email }));
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
        'add an instance type, for example main/small cpu=1 memory=4GB',
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

function addConfigCommands(add: AddCommand, { table, list, edits }: ConfigGroup): void {
  add({
    usage: 'list',
    description: list,
    options: [configOption()],
    load: async () => {
      const { listConfig } = await import('../commands/service-config.ts');
      return (context: CommandContext, options: ServiceConfigOptions) => listConfig(table, context, options);
    },
  });
  for (const [usage, description, type] of edits) {
    add({
      usage,
      description,
      options: [...(type === 'addCluster' ? [instanceTypeOption()] : []), configOption()],
      load: async (...args) => {
        const { editServiceConfig } = await import('../commands/service-config.ts');
        return (context, options) => editServiceConfig({ type, words: args.flat() }, context, options);
      },
    });
  }
}

function instanceTypeOption(): Option {
  return new Option(
    '--instance-type <id,field=value,...>',
    'add an instance type, for example small,cpu=1,memory=4GB; repeatable',
  )
    .argParser(addText)
    .makeOptionMandatory();
}
