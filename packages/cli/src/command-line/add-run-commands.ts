import { Option } from 'commander';
import { type AddCommand, DEFAULT_FILE } from './add-command.ts';
import {
  addText,
  approvalOption,
  fileOptions,
  paramOption,
  parsePositive,
  reuseOptions,
  runOption,
} from './command-options.ts';

/** Adds the commands that start, continue and end runs. */
export function addRunCommands(add: AddCommand): void {
  add({
    usage: 'run [file]',
    description: `run a pipeline (default: ${DEFAULT_FILE})`,
    options: [
      ...fileOptions(),
      new Option(
        '--parallelism <n>',
        'limit the containers that run at once, in addition to the limit in the file',
      ).argParser(parsePositive),
      ...reuseOptions(),
      approvalOption(),
    ],
    load: async (file = DEFAULT_FILE) => {
      const { runPipeline } = await import('../commands/run-pipeline.ts');
      return (context, options) => runPipeline(file, context, options);
    },
  });
  addRerun(add);
  add({
    usage: 'resume [run]',
    description: 'resume a suspended run (default: the newest)',
    options: [approvalOption()],
    load: async (run) => {
      const { resume } = await import('../commands/resume.ts');
      return (context, options) => resume(run, context, options);
    },
  });
  add({
    usage: 'cancel [run]',
    description: 'cancel a run and its containers (default: the newest)',
    load: async (run) => {
      const { cancel } = await import('../commands/cancel.ts');
      return (context, options) => cancel(run, context, options);
    },
  });
  add({
    usage: 'approve <step>',
    description: 'approve or reject a step that waits for approval',
    options: [runOption(), new Option('--reject', 'reject the step')],
    load: async (step) => {
      const { approve } = await import('../commands/approve.ts');
      return (context, options) => approve(step!, context, options);
    },
  });
  add({
    usage: 'adopt <run> [file]',
    description: 'rebuild a run whose journal is lost from its containers, so that it can be resumed',
    options: fileOptions(),
    load: async (run, file = DEFAULT_FILE) => {
      const { adopt } = await import('../commands/adopt.ts');
      return (context, options) => adopt({ runId: run!, file }, context, options);
    },
  });
}

function addRerun(add: AddCommand): void {
  add({
    usage: 'rerun [run]',
    description: 'start an earlier run again, with its file, parameters and options (default: the newest)',
    options: [
      new Option('--failed', 'reuse successful, unchanged steps of the run'),
      new Option(
        '--from <step>',
        'like --failed, but rerun this step and everything that depends on it; repeatable',
      ).argParser(addText),
      paramOption(),
    ],
    load: async (run) => {
      const { rerun } = await import('../commands/rerun.ts');
      return (context, options) => rerun(run, context, options);
    },
  });
}
