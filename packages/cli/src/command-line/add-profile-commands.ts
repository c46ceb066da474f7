import type { Command } from 'commander';
import type { AddCommand, AddCommandsTo } from './add-command.ts';

/** Adds the commands for logins, and the group `profile`. `addOfHome` is for commands that use the home. */
export function addProfileCommands(
  program: Command,
  { addTo, addOfHome }: { readonly addTo: AddCommandsTo; readonly addOfHome: AddCommand },
): void {
  addTo(program)({
    usage: 'logout [profile]',
    description: 'remove the saved token of your profile (default: `default`); keep its other settings',
    load: async (profile = 'default') => {
      const { logout } = await import('../commands/logout.ts');
      return (context, options) => logout(profile, context, options);
    },
  });
  addOfHome({
    usage: 'whoami',
    description: 'show which service and login commands use here, and the accounts of the login',
    load: async () => {
      const { whoami } = await import('../commands/whoami.ts');
      return (context, options) => whoami(context, options);
    },
  });
  const add = addTo(program.command('profile').description('show and choose profiles'));
  add({
    usage: 'list',
    description: 'list your profiles and that of the home, and which of them applies here',
    load: async () => {
      const { listProfilesCommand } = await import('../commands/list-profiles.ts');
      return (context, options) => listProfilesCommand(context, options);
    },
  });
  add({
    usage: 'show [profile]',
    description: 'show the settings of a profile and where each comes from (default: the profile that applies here)',
    load: async (profile) => {
      const { showProfile } = await import('../commands/show-profile.ts');
      return (context, options) => showProfile(profile, context, options);
    },
  });
  add({
    usage: 'use <profile>',
    description: 'let this home use one of your profiles',
    load: async (profile) => {
      const { useProfile } = await import('../commands/use-profile.ts');
      return (context, options) => useProfile(profile!, context, options);
    },
  });
}
