import { Option } from 'commander';
import { type AddCommand, DEFAULT_FILE } from './add-command.ts';
import { fileOptions, labelOption, parsePositive } from './command-options.ts';

const DEFAULT_FILES = [DEFAULT_FILE] as const;

/** Adds the commands of the group `schedule`. */
export function addScheduleCommands(add: AddCommand): void {
  add({
    usage: 'run [file...]',
    description: `run pipelines at their planned times until interrupted (default: ${DEFAULT_FILE})`,
    options: [
      new Option('--once', 'run what is due now, resume detached runs, then exit'),
      new Option(
        '--reset',
        'forget the recorded parameters and options of the schedule; only those of this command apply',
      ),
      ...fileOptions(),
      labelOption(),
    ],
    load: async (...files) => {
      const { runSchedules } = await import('../commands/run-schedules.ts');
      return (context, options) => runSchedules(filesOf(files), context, options);
    },
  });
  add({
    usage: 'backfill <from..to> [file...]',
    description: 'run the pipeline for each planned time of these days, one run after the other',
    options: [...fileOptions(), labelOption()],
    load: async (backfill, ...files) => {
      const { runSchedules } = await import('../commands/run-schedules.ts');
      return (context, options: object) => runSchedules(filesOf(files), context, { ...options, backfill: backfill! });
    },
  });
  add({
    usage: 'next [file...]',
    description: 'list the next planned times',
    options: [
      new Option('-n, --limit <n>', 'limit the number of times').argParser(parsePositive).default(10),
      ...fileOptions(),
    ],
    load: async (...files) => {
      const { listPlannedTimes } = await import('../commands/list-planned-times.ts');
      return (context, options) => listPlannedTimes(filesOf(files), context, options);
    },
  });
  add({
    usage: 'list',
    description: 'list the schedules of this home with their files, options and next planned times',
    load: async () => {
      const { printSchedules } = await import('../commands/print-schedules.ts');
      return (context, options) => printSchedules(context, options);
    },
  });
  addPause(add, ['pause', 'start no runs of a schedule, in any process, until `unpause`']);
  addPause(add, ['unpause', 'end the pause of a schedule; planned times that passed during the pause are not run']);
}

function addPause(add: AddCommand, [verb, description]: readonly ['pause' | 'unpause', string]): void {
  add({
    usage: `${verb} <name>`,
    description,
    load: async (name) => {
      const { changePause } = await import('../commands/change-pause.ts');
      return (context, options) => changePause({ name: name!, verb }, context, options);
    },
  });
}

/** The parser passes all files as one argument. */
function filesOf(files: readonly (string | readonly string[])[]): readonly string[] {
  const given = files.flat();
  return given.length > 0 ? given : DEFAULT_FILES;
}
