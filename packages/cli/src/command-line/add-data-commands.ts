import { Option } from 'commander';
import type { AddCommand } from './add-command.ts';
import { runOption } from './command-options.ts';

/** Adds the commands that copy and remove data. */
export function addDataCommands(add: AddCommand): void {
  add({
    usage: 'pull [output...]',
    description: 'copy outputs of a run, or paths in them, to a directory (default: all that the pipeline declares)',
    options: [
      runOption(),
      new Option('--to <dir>', 'copy into this directory, each output under its own name').default('results'),
    ],
    load: async (...outputs) => {
      const { pull } = await import('../commands/pull.ts');
      return (context, options) => pull(outputs.flat(), context, options);
    },
  });
  add({
    usage: 'gc',
    description: 'remove old runs and data that no other run needs',
    options: [
      new Option('--older-than <duration>', 'remove runs that ended longer ago than this').default('30d'),
      new Option(
        '--max-size <size>',
        'also remove the oldest runs until the others take at most this size, for example 20GB',
      ),
      new Option('--dry-run', 'show what would be removed; remove nothing'),
    ],
    load: async () => {
      const { gcCommand } = await import('../commands/gc-command.ts');
      return (context, options) => gcCommand(context, options);
    },
  });
  add({
    usage: 'delete <run...>',
    description: 'remove ended runs and their data now; remove nothing if one of them must stay',
    load: async (...runs) => {
      const { deleteCommand } = await import('../commands/delete-command.ts');
      return (context, options) => deleteCommand(runs.flat(), context, options);
    },
  });
  add({
    usage: 'orphans',
    description: 'list containers of Sluice that no run of this home will use again',
    options: [
      new Option('--cancel', 'cancel the orphans of finished runs, and those of the selected run'),
      new Option(
        '-r, --run <run>',
        'list only the orphans of this run, given by its complete ID; the run may belong to another home',
      ),
    ],
    load: async () => {
      const { orphans } = await import('../commands/orphans.ts');
      return (context, options) => orphans(context, options);
    },
  });
}
