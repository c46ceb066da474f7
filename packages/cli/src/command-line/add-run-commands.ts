import { Option } from 'commander';
import { type AddCommand, DEFAULT_FILE } from './add-command.ts';
import {
  approvalOption,
  backgroundOption,
  detachOption,
  fileOptions,
  fromOption,
  hereOption,
  jobOption,
  junitOption,
  labelOption,
  paramOption,
  paramsFileOption,
  parsePositive,
  quietOption,
  resubmitOption,
  reuseOptions,
  runOption,
} from './command-options.ts';

/** Adds the commands that start, continue and end runs. */
export function addRunCommands(add: AddCommand): void {
  addRun(add);
  addRerun(add);
  addFollowing(add);
  addHosts(add);
  add({
    usage: 'resume [run]',
    description:
      'continue a suspended or detached run in this terminal (default: the newest suspended run of the pipeline)',
    options: [approvalOption(), backgroundOption(), resubmitOption(), junitOption(), quietOption()],
    load: async (run) => {
      const { resume } = await import('../commands/resume.ts');
      return (context, options) => resume(run, context, options);
    },
  });
  add({
    usage: 'cancel [run]',
    description: 'cancel a run and its containers (default: the only run that has not ended)',
    load: async (run) => {
      const { cancel } = await import('../commands/cancel.ts');
      return (context, options) => cancel(run, context, options);
    },
  });
  for (const verb of ['approve', 'reject'] as const) {
    add({
      usage: `${verb} <step>`,
      description: `${verb} a step that waits for approval, or with STEP/CELL one of its cells`,
      options: [runOption('the only run in which the step waits')],
      load: async (step) => {
        const { approve } = await import('../commands/approve.ts');
        return (context, options) => approve(verb, step!, { context, options });
      },
    });
  }
  add({
    usage: 'adopt <run> [file]',
    description: 'rebuild a run whose journal is lost from its containers, so that it can be resumed',
    options: [...fileOptions(), labelOption()],
    load: async (run, file = DEFAULT_FILE) => {
      const { adopt } = await import('../commands/adopt.ts');
      return (context, options) => adopt({ runId: run!, file }, context, options);
    },
  });
}

function addRun(add: AddCommand): void {
  add({
    usage: 'run [file]',
    description: `run a pipeline (default: ${DEFAULT_FILE})`,
    options: [
      ...fileOptions(),
      labelOption(),
      new Option(
        '--parallelism <n>',
        'run at most this many containers at once; a lower limit in the file stays valid',
      ).argParser(parsePositive),
      ...reuseOptions(),
      approvalOption(),
      hereOption(),
      detachOption(),
      jobOption(),
      resubmitOption(),
      junitOption(),
      quietOption(),
    ],
    load: async (file = DEFAULT_FILE) => {
      const { runPipeline } = await import('../commands/run-pipeline.ts');
      return (context, options) => runPipeline(file, context, options);
    },
  });
}

function addFollowing(add: AddCommand): void {
  add({
    usage: 'attach [run]',
    description: 'follow a run that another process executes (default: the newest); Ctrl-C stops following it',
    options: [junitOption(), quietOption()],
    load: async (run) => {
      const { attach } = await import('../commands/attach.ts');
      return (context, options) => attach(run, context, options);
    },
  });
  add({
    usage: 'wait [run]',
    description: 'wait silently for the end of a run (default: the newest); the exit code is that of the run',
    load: async (run) => {
      const { wait } = await import('../commands/wait.ts');
      return (context, options) => wait(run, context, options);
    },
  });
  add({
    usage: 'detach [run]',
    description: 'continue a run in the background (default: the only run that has not ended)',
    load: async (run) => {
      const { detach } = await import('../commands/detach.ts');
      return (context, options) => detach(run, context, options);
    },
  });
  add({
    usage: 'suspend [run]',
    description:
      'suspend a run: its containers keep running, and no other step starts until resume or detach (default: the only run that has not ended)',
    load: async (run) => {
      const { suspend } = await import('../commands/suspend.ts');
      return (context, options) => suspend(run, context, options);
    },
  });
}

function addHosts(add: AddCommand): void {
  add({
    usage: 'ui',
    description: 'show the runs of the home in a browser, and execute detached runs and schedules',
    options: [
      new Option('--listen <address:port>', 'listen on this loopback address; port 0 selects a free port').default(
        '127.0.0.1:7380',
      ),
      new Option('--open', 'open the browser'),
      new Option('--no-runs', 'only show runs; leave their execution to other processes'),
    ],
    load: async () => {
      const { showUi } = await import('../commands/show-ui.ts');
      return (context, options) => showUi(context, options);
    },
  });
  add({
    usage: 'host',
    description: 'execute the detached runs of the home until the last has ended',
    isHidden: true,
    load: async () => {
      const { host } = await import('../commands/host.ts');
      return (context, options) => host(context, options);
    },
  });
}

function addRerun(add: AddCommand): void {
  add({
    usage: 'rerun [run]',
    description:
      'start an earlier run again, with its file, parameters and options, and reuse its successful, unchanged steps (default: the newest of the pipeline)',
    options: [
      new Option('--all', 'run all steps; reuse nothing').conflicts('from'),
      fromOption(),
      paramOption(),
      paramsFileOption(),
      labelOption(),
      hereOption(),
      detachOption(),
      junitOption(),
      quietOption(),
    ],
    load: async (run) => {
      const { rerun } = await import('../commands/rerun.ts');
      return (context, options) => rerun(run, context, options);
    },
  });
}
