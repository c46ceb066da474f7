import { Option } from 'commander';
import type { AddCommand } from './add-command.ts';
import { addText, junitOption, parseCount, parsePositive, runOption } from './command-options.ts';
import { VERSION } from './version.ts';

/** Adds the commands that show runs. */
export function addInspectCommands(add: AddCommand): void {
  addRuns(add);
  addShow(add);
  add({
    usage: 'open [run]',
    description: 'open the page of a run in the browser, as `ui --open` does (default: the newest)',
    load: async (run) => {
      const { openRun } = await import('../commands/open-run.ts');
      return (context, options) => openRun(run, context, options);
    },
  });
  addExplanations(add);
  add({
    usage: 'logs <step[/cell]>',
    description: 'print the log of a container',
    options: [
      runOption(),
      new Option('-f, --follow', 'follow the log until the container ends'),
      new Option('--tail <n>', 'print only the last lines').argParser(parseCount),
      new Option('--rank <n>', 'print only the lines of this task, of a step with `nodes` or `tasksPerNode`').argParser(
        parseCount,
      ),
      new Option('--attempt <n>', 'print the log of this attempt (default: the last)').argParser(parsePositive),
    ],
    load: async (step) => {
      const { logs } = await import('../commands/logs.ts');
      return (context, options) => logs(step!, context, options);
    },
  });
  add({
    usage: 'report [run]',
    description: 'write a report on a run: HTML page, CSV table and JSON data (default: the newest)',
    options: [
      new Option('--to <dir>', "write to this directory (default: the run's directory in the home)"),
      junitOption(),
    ],
    load: async (run) => {
      const { report } = await import('../commands/report.ts');
      return (context, options) => report(run, context, options);
    },
  });
  addMcp(add);
}

function addExplanations(add: AddCommand): void {
  add({
    usage: 'why <step[/cell]>',
    description: 'explain why a step waits, failed, was skipped, was retried or was not reused',
    options: [
      runOption(),
      new Option(
        '--against <run>',
        'explain instead why the step differs from that of this run: an ID or its start, with /STEP[/CELL] if it has another name there, or `previous` for the previous run that has the step',
      ),
    ],
    load: async (step) => {
      const { why } = await import('../commands/why.ts');
      return (context, options) => why(step!, context, options);
    },
  });
  add({
    usage: 'history <file>',
    description: 'tell which run, step and attempt wrote a file, and who has reused or mounted it',
    options: [runOption()],
    load: async (file) => {
      const { history } = await import('../commands/history.ts');
      return (context, options) => history(file!, context, options);
    },
  });
}

function addMcp(add: AddCommand): void {
  add({
    usage: 'mcp',
    description: 'let an assistant read runs: serve the Model Context Protocol on standard input and output',
    load: async () => {
      const { serveMcp } = await import('../commands/serve-mcp.ts');
      return (context, options) => serveMcp({ context, options, version: VERSION });
    },
  });
}

function addRuns(add: AddCommand): void {
  add({
    usage: 'runs',
    description: 'list the runs of this home and of its server, newest first',
    options: [
      new Option('-n, --limit <n>', 'show only the newest runs (default: 50; with --json: all)').argParser(
        parsePositive,
      ),
      new Option('--all', 'show all runs').conflicts('limit'),
      new Option('--status <status>', 'show runs with this status; repeatable').argParser(addText),
      new Option('--pipeline <name>', 'show runs of this pipeline'),
      new Option('--label <name[=value]>', 'show runs whose pipeline has this label; repeatable').argParser(addText),
      new Option('--since <time>', 'show runs of the last 7d (or another duration), or since a date'),
    ],
    load: async () => {
      const { runs } = await import('../commands/runs.ts');
      return (context, options) => runs(context, options);
    },
  });
}

function addShow(add: AddCommand): void {
  add({
    usage: 'show [run]',
    description: 'show the steps, failures and files of a run (default: the newest)',
    options: [
      new Option('--rows <which>', 'show these rows of the grid of a run with axes (default: the first ones)').choices([
        'failed',
        'all',
      ]),
    ],
    load: async (run) => {
      const { show } = await import('../commands/show.ts');
      return (context, options) => show(run, context, options);
    },
  });
}
