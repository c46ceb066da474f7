import { Option } from 'commander';
import type { AddCommand } from './add-command.ts';
import { fileOptions, parsePositive } from './command-options.ts';

/** Adds `schedule`. */
export function addScheduleCommands(add: AddCommand): void {
  add({
    usage: 'schedule <file...>',
    description: 'run pipelines at their planned times until interrupted',
    options: [
      ...fileOptions(),
      new Option('--once', 'run what is due now, resume detached runs, then exit').conflicts(['backfill', 'next']),
      new Option('--backfill <from..to>', 'run the planned times of these days, one after the other').conflicts('next'),
      new Option('--next <n>', 'list the next planned times and exit').argParser(parsePositive),
    ],
    load: async (...files) => {
      const { schedule } = await import('../commands/schedule.ts');
      return (context, options) => schedule(files.flat(), context, options);
    },
  });
}
