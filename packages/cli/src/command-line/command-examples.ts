import { own } from '@sluice/core';
import type { Command } from 'commander';

/** Examples with their meaning, by command. They are shown at the end of its `--help`. */
const EXAMPLES: Readonly<Record<string, readonly (readonly [line: string, meaning: string])[]>> = {
  run: [
    ['run pipeline.yaml', 'run the pipeline and follow it to its end'],
    [`run pipeline.yaml -p seed=7 -p 'models=["a","b"]'`, 'set parameters'],
    ['run pipeline.yaml --reuse', 'run only the steps that failed or changed'],
    ['run pipeline.yaml --again fit', 'rerun the step fit and everything that depends on it'],
    ['run pipeline.yaml --parallelism 4 --json', 'run at most four containers at once; print events as JSON lines'],
    ['run pipeline.yaml --service https://containers.example.org', 'run on another service'],
  ],
  schedule: [
    ['schedule nightly.yaml', 'run the pipeline at its planned times until interrupted'],
    ['schedule nightly.yaml --next 5', 'show the next five planned times'],
    ['schedule nightly.yaml --backfill 2026-11-01..2026-11-07', 'run the planned times of one week'],
  ],
  resume: [
    ['resume', 'resume the newest suspended run'],
    ['resume 3o75', 'resume the run whose ID starts with 3o75'],
  ],
  adopt: [['adopt 3o75va3hwx7o2 pipeline.yaml', 'find the containers of the run; resume it afterwards']],
  cancel: [['cancel 3o75', 'stop the containers; `finally` steps still run']],
  approve: [
    ['approve 3o75 release', 'approve the step'],
    ['approve 3o75 release --reject', 'reject the step'],
  ],
  gc: [
    ['gc --dry-run', 'show what would be removed'],
    ['gc --older-than 7d --max-size 20GB', 'keep the runs of one week, at most 20 GB'],
    ['gc --orphans', 'list containers that no run will use again'],
  ],
  check: [
    ['check pipeline.yaml', 'show every error with its position'],
    ['check pipeline.yaml --json', 'print the errors as JSON, for an editor'],
  ],
  plan: [
    ['plan pipeline.yaml -p seed=7', 'show steps, cells, order and instance types'],
    ['plan pipeline.yaml --reuse', 'also show which steps `run --reuse` would reuse, and why not the others'],
  ],
  trust: [['trust', 'confirm the home after you have inspected its contents']],
  runs: [
    ['runs -n 10', 'list the ten newest runs'],
    ['runs --json', 'list all runs as JSON'],
  ],
  show: [
    ['show', 'show the newest run'],
    ['show 3o75 --json', 'show everything about a run as JSON'],
  ],
  why: [
    ['why fit', 'explain a step of the newest run'],
    ['why 3o75 fit/model-a', 'explain one cell of a step'],
  ],
  report: [
    ['report', 'report on the newest run and print the path of the page'],
    ['report 3o75 --out ./report', 'write the report to ./report'],
  ],
  logs: [
    ['logs fit/model-a', 'show the log of a cell of the newest run'],
    ['logs 3o75 prepare --follow', 'follow the log until the container ends'],
    ['logs 3o75 prepare --attempt 1 --tail 20', 'show the last 20 lines of the first attempt'],
  ],
  pull: [
    ['pull', 'copy all outputs of the newest run to ./results'],
    ['pull 3o75 best --to ./models', 'copy one output to ./models'],
  ],
  serve: [['serve --config service.yaml', 'run the service (see docs/serve.md)']],
  authority: [['authority --config service.yaml', 'print the file to distribute to clients']],
  doctor: [['doctor', 'show which engines work']],
  completion: [
    ['completion bash', 'print the script; load it with: source <(sluice completion bash)'],
    ['completion zsh', 'print the script for zsh'],
  ],
  'user add': [['user add ada@example.org --config service.yaml', 'add a user; prompt for the password']],
  'user grant': [['user grant ada@example.org main/physics --config service.yaml', 'allow a user to use an account']],
  'account add': [['account add main/physics --config service.yaml', 'add an account']],
  'cluster add': [
    [
      'cluster add main engine=process --instance-type small,cores=1,memoryGB=4 --config service.yaml',
      'add a cluster with one instance type',
    ],
  ],
  'instance-type add': [
    ['instance-type add main/large cores=8 memoryGB=64 --config service.yaml', 'add an instance type to a cluster'],
  ],
};

/** Appends the examples of each command to its help; commands without examples are unchanged. */
export function addExamples(commands: readonly Command[]): void {
  for (const command of commands) {
    const group = command.parent?.name();
    const examples = own(
      EXAMPLES,
      group === 'sluice' || group === undefined ? command.name() : `${group} ${command.name()}`,
    );
    if (!examples) continue;
    const lines = examples.map(([line, meaning]) => `  sluice ${line}\n      ${meaning}\n`);
    command.addHelpText('after', `\nExamples:\n${lines.join('')}`);
  }
}
