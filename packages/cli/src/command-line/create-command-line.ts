import { Command, InvalidArgumentError, Option } from 'commander';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import type { AddCommand, AddCommandsTo } from './add-command.ts';
import { addServiceCommands } from './add-service-commands.ts';
import { addExamples } from './command-examples.ts';
import { VERSION } from './version.ts';

/**
 * Builds the grammar of the `sluice` command. `exitCode` returns the code of the command that `program.parseAsync` ran.
 */
export function createCommandLine(context: CommandContext): { program: Command; exitCode: () => number } {
  let exitCode: number = EXIT_CODE.ok;
  const program = new Command('sluice');
  const addTo: AddCommandsTo = (group) => (usage, description, load) =>
    group
      .command(usage)
      .description(description)
      .action(async (...parsed: unknown[]) => {
        const command = parsed.at(-1) as Command;
        const action = await load(...(parsed.slice(0, -2) as string[]));
        exitCode = await action(context, command.optsWithGlobals() as never);
      });

  program
    .description(
      'Run pipelines of containers: steps are containers, edges are volumes, nothing is lost or started twice',
    )
    .version(VERSION)
    .configureHelp({
      showGlobalOptions: true,
      sortSubcommands: false,
      subcommandTerm: (command) => `${command.name()} ${command.usage()}`.trim(),
    })
    .configureOutput({ writeOut: context.terminal.out, writeErr: context.terminal.err })
    .showHelpAfterError('Try: sluice --help')
    .exitOverride()
    .option(
      '--home <dir>',
      'set the home, which contains runs, cache and the embedded service (default: the nearest .sluice)',
    )
    .option(
      '--profile <file>',
      'read service and credentials from this file (default: profile.yaml in the home, else your own)',
    )
    .option('--service <url>', 'use this v1rc1 service instead of the embedded service')
    .option('--account <id>', 'set the account on the service')
    .option('--cluster <id>', 'set the cluster of the service')
    .option('--cores <n>', 'limit the cores of the embedded service (default: all cores of the machine)', parsePositive)
    .option('--json', 'print JSON, one value per line');
  const add = addTo(program);
  const addOfHome = withCheckedHome(add);
  addRunCommands(addOfHome);
  addCleanupCommands(addOfHome);
  addCheckCommands(add);
  addInspectCommands(addOfHome);
  const groups = addServiceCommands(add, addTo);
  for (const group of groups) program.addCommand(group);
  const commands = [...program.commands, ...groups.flatMap((group) => group.commands)];
  for (const command of commands) {
    command.copyInheritedSettings(program);
    command.showHelpAfterError(`Try: sluice ${nameOf(command)} --help`);
  }
  addExamples(commands);
  return { program, exitCode: () => exitCode };
}

/** For commands that read or write a home: they are refused before their work if the home may not be used. */
function withCheckedHome(add: AddCommand): AddCommand {
  return (usage, description, load) =>
    add(usage, description, async (...args) => {
      const action = await load(...args);
      const { checkHome } = await import('../home/check-home.ts');
      return async (context, options: GlobalOptions) => {
        const checked = checkHome(context, options);
        if (checked.ok) return action(context, options as never);
        const { refuse } = await import('../context/refuse.ts');
        return refuse(checked.error, { context, options });
      };
    });
}

const NO_WAIT = 'exit with code 75 when the run only waits for an approval';

function addRunCommands(add: AddCommand): void {
  add('run <file>', 'run a pipeline', async (file) => {
    const { runPipeline } = await import('../commands/run-pipeline.ts');
    return (context, options) => runPipeline(file!, context, options);
  })
    .addOption(paramOption())
    .addOption(rootOption())
    .addOption(imagesOption())
    .option(
      '--parallelism <n>',
      'limit the containers that run at once, in addition to the limit in the file',
      parsePositive,
    )
    .addOption(reuseOption())
    .addOption(fromOption())
    .addOption(againOption())
    .option('--no-wait', NO_WAIT);
  add('schedule <file...>', 'run pipelines at their planned times until interrupted', async (...files) => {
    const { schedule } = await import('../commands/schedule.ts');
    return (context, options) => schedule(files.flat(), context, options);
  })
    .addOption(paramOption())
    .addOption(rootOption())
    .addOption(imagesOption())
    .addOption(
      new Option('--once', 'run what is due now, resume detached runs, then exit').conflicts(['backfill', 'next']),
    )
    .addOption(
      new Option('--backfill <from..to>', 'run the planned times of these days, one after the other').conflicts('next'),
    )
    .option('--next <n>', 'list the next planned times and exit', parsePositive);
  add('resume [run]', 'resume a suspended run (default: the newest)', async (run) => {
    const { resume } = await import('../commands/resume.ts');
    return (context, options) => resume(run, context, options);
  }).option('--no-wait', NO_WAIT);
  add(
    'adopt <run> <file>',
    'rebuild a run whose journal is lost from its containers, so that it can be resumed',
    async (run, file) => {
      const { adopt } = await import('../commands/adopt.ts');
      return (context, options) => adopt({ runId: run!, file: file! }, context, options);
    },
  )
    .addOption(paramOption())
    .addOption(rootOption())
    .addOption(imagesOption());
  add('cancel [run]', 'cancel a run and its containers (default: the newest)', async (run) => {
    const { cancel } = await import('../commands/cancel.ts');
    return (context, options) => cancel(run, context, options);
  });
  add('approve <run> <step>', 'approve or reject a step that waits for approval', async (run, step) => {
    const { approve } = await import('../commands/approve.ts');
    return (context, options) => approve({ run: run!, step: step! }, context, options);
  }).option('--reject', 'reject the step');
}

function addCleanupCommands(add: AddCommand): void {
  add('gc', 'remove data that no run needs, or find orphaned containers', async () => {
    const { gcCommand } = await import('../commands/gc-command.ts');
    return (context, options) => gcCommand(context, options);
  })
    .option('--older-than <duration>', 'remove runs that ended longer ago than this', '30d')
    .option('--max-size <size>', 'also remove the oldest runs until all take at most this size, for example 20GB')
    .option('--dry-run', 'show what would be removed; remove nothing')
    .option('--orphans', 'list containers with Sluice labels that no run of this home will use again')
    .option('--cancel [run]', 'with --orphans: cancel orphans of finished runs, and of the given run');
}

function addCheckCommands(add: AddCommand): void {
  add('trust', 'trust the home of this directory and its profile in their current state', async () => {
    const { trust } = await import('../commands/trust.ts');
    return (context, options) => trust(context, options);
  });
  add('check <file>', 'check a pipeline file and show all errors', async (file) => {
    const { check } = await import('../commands/check.ts');
    return (context, options) => check(file!, context, options);
  })
    .addOption(paramOption())
    .addOption(rootOption())
    .addOption(imagesOption());
}

function addInspectCommands(add: AddCommand): void {
  add('plan <file>', 'show what a run would do; start nothing', async (file) => {
    const { plan } = await import('../commands/plan.ts');
    return (context, options) => plan(file!, context, options);
  })
    .addOption(paramOption())
    .addOption(rootOption())
    .addOption(imagesOption())
    .addOption(reuseOption())
    .addOption(fromOption())
    .addOption(againOption());
  add('runs', 'list the runs of this home, newest first', async () => {
    const { runs } = await import('../commands/runs.ts');
    return (context, options) => runs(context, options);
  }).option('-n, --limit <n>', 'limit the number of runs', parsePositive);
  add('show [run]', 'show the steps, failures and files of a run (default: the newest)', async (run) => {
    const { show } = await import('../commands/show.ts');
    return (context, options) => show(run, context, options);
  });
  add(
    'why <run> [step]',
    'explain why a step waits, failed, was skipped, was retried or was not reused',
    async (run, step) => {
      const { why } = await import('../commands/why.ts');
      return (context, options) => why(resolveStepArguments(run!, step), context, options);
    },
  ).usage('[options] [run] <step[/cell]>');
  add(
    'report [run]',
    'write a report on a run: HTML page, CSV table and JSON data (default: the newest)',
    async (run) => {
      const { report } = await import('../commands/report.ts');
      return (context, options) => report(run, context, options);
    },
  ).option('--out <dir>', "set the destination directory (default: the run's directory in the home)");
  add('logs <run> [step]', 'print the log of a container', async (run, step) => {
    const { logs } = await import('../commands/logs.ts');
    return (context, options) => logs(resolveStepArguments(run!, step), context, options);
  })
    .usage('[options] [run] <step[/cell]>')
    .option('-f, --follow', 'follow the log until the container ends')
    .option('--tail <n>', 'print only the last lines', parseCount)
    .option('--attempt <n>', 'print the log of this attempt (default: the last)', parsePositive);
  add(
    'pull [run] [outputs...]',
    'copy outputs of a run to local directories (default: all of the newest)',
    async (run, outputs) => {
      const { pull } = await import('../commands/pull.ts');
      return (context, options) => pull({ run, outputs: outputs as unknown as string[] }, context, options);
    },
  )
    .option('-r, --run <run>', 'name the run, so that every argument names an output')
    .option('--to <dir>', 'set the destination directory; each output gets a subdirectory', 'results');
}

/** `RUN STEP`, or `STEP` of the newest run. */
function resolveStepArguments(first: string, second: string | undefined): { run: string | undefined; step: string } {
  return second === undefined ? { run: undefined, step: first } : { run: first, step: second };
}

function paramOption(): Option {
  return new Option('-p, --param <name=value>', 'set a parameter of the pipeline; repeatable').argParser(
    (text: string, before: Record<string, string> | undefined) => {
      const equals = text.indexOf('=');
      if (equals < 1) throw new InvalidArgumentError('It must have the form name=value.');
      return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
    },
  );
}

function imagesOption(): Option {
  return new Option('--ignore-images', "ignore images and run the commands with this machine's programs");
}

function rootOption(): Option {
  const help =
    'allow `include` and `uses` only below this directory (default: the git work tree, or the directory of FILE)';
  return new Option('--root <dir>', help);
}

function reuseOption(): Option {
  return new Option('--reuse', 'reuse successful, unchanged steps from the latest run');
}

function fromOption(): Option {
  return new Option('--from <run>', 'reuse steps from this run instead of the latest');
}

function againOption(): Option {
  const help = 'like --reuse, but rerun this step and everything that depends on it; repeatable';
  return new Option('--again <step>', help).argParser(addText);
}

function addText(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** The name as typed, with its group: `account add`. */
function nameOf(command: Command): string {
  const group = command.parent?.parent ? `${command.parent.name()} ` : '';
  return `${group}${command.name()}`;
}

function parsePositive(text: string): number {
  const count = parseCount(text);
  if (count === 0) throw new InvalidArgumentError('It must be at least 1.');
  return count;
}

function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
