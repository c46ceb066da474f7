import { Option } from 'commander';
import type { AddCommand } from './add-command.ts';
import { configOption, inputOption, runOption } from './command-options.ts';
import { VERSION } from './version.ts';

/** Adds the commands for this machine, its home, and a service that it runs. */
export function addOperateCommands(add: AddCommand): void {
  add({
    usage: 'serve',
    description: 'serve the container-and-volume protocol v1rc1',
    options: [
      configOption(),
      new Option('--log-level <level>', 'set the log level: trace, debug, info, warn, error or silent').default('info'),
    ],
    load: async () => {
      const { serve } = await import('../commands/serve.ts');
      return (context, options) => serve(context, options);
    },
  });
  add({
    usage: 'doctor',
    description: 'show which container engines work on this machine, and what to install',
    options: [
      new Option('--bundle <file>', 'write a .tar.gz for a bug report instead, with a run and without secrets'),
      runOption(),
    ],
    load: async () => {
      const { doctor } = await import('../commands/doctor.ts');
      return (context, options) => doctor({ context, options, version: VERSION });
    },
  });
  add({
    usage: 'trust',
    description: 'trust the home of this directory and its profile in their current state',
    load: async () => {
      const { trust } = await import('../commands/trust.ts');
      return (context, options) => trust(context, options);
    },
  });
  add({
    usage: 'login <url>',
    description: 'log in to a service; save the address and a token as a profile',
    options: [
      new Option('--profile <name>', 'write the profile of this name').default('default'),
      new Option('--token-stdin', 'read a token from standard input instead of logging in with e-mail and password'),
      new Option('--auth-url <url>', 'log in at this address, if it is not that of the service'),
      new Option('--ca-file <file>', 'trust the certificates (PEM) in this file'),
      inputOption(),
    ],
    load: async (url) => {
      const { login } = await import('../commands/login.ts');
      return (context, options) => login(url!, context, options);
    },
  });
}
