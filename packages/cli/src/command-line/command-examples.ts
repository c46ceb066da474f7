import { own } from '@sluice/core';
import type { Command } from 'commander';
import { commandName } from './command-name.ts';

/** Examples with their meaning, by command. They are shown at the end of its `--help`. */
const EXAMPLES: Readonly<Record<string, readonly (readonly [line: string, meaning: string])[]>> = {
  run: [
    ['run', 'run pipeline.yaml and follow it to its end'],
    ['run --detach', 'run it in the background'],
    [`run digits.yaml -p seed=7 -p 'models=["a","b"]'`, 'run another file with parameters'],
    ['run --reuse', 'run only the steps that failed or changed'],
    ['run --from fit', 'rerun the step fit and everything that depends on it'],
    ['run --parallelism 4 --json', 'run at most four containers at once; print events as JSON lines'],
    ['run --service https://containers.example.org', 'run on another service'],
  ],
  attach: [
    ['attach', 'follow the newest run'],
    ['attach 3o75 --json', 'print the events of a run as JSON lines'],
  ],
  wait: [
    ['wait 3o75', 'wait for a run in a script: 0 if it has succeeded, 1 if not'],
    ['wait 3o75 --json', 'print its report at the end'],
  ],
  detach: [['detach 3o75', 'continue a run in the background; the terminal that executed it becomes free']],
  suspend: [['suspend 3o75', 'start no more steps of a run; its containers keep running']],
  ui: [
    ['ui --open', 'show the runs in the browser, and execute detached runs and schedules'],
    ['ui --listen 127.0.0.1:0 --no-runs', 'only show the runs, on any free port'],
  ],
  host: [['host', 'execute all detached runs of the home']],
  rerun: [
    ['rerun', 'repeat the newest run, but reuse its successful, unchanged steps'],
    ['rerun 3o75 --all', 'repeat a whole run'],
    ['rerun --from fit/k-1', 'rerun one cell of the step fit and everything that depends on it'],
    ['rerun 3o75 --detach', 'rerun in the background, or on the server of its service'],
  ],
  'schedule run': [
    ['schedule run nightly.yaml', 'run the pipeline at its planned times until interrupted'],
    ['schedule run --once nightly.yaml', 'run what is due now; for cron or a systemd timer'],
  ],
  'schedule next': [['schedule next -n 5 nightly.yaml', 'show the next five planned times']],
  'schedule backfill': [['schedule backfill 2026-11-01..2026-11-07 nightly.yaml', 'run the planned times of one week']],
  'schedule list': [['schedule list', 'show which schedules run, and when']],
  'schedule pause': [['schedule pause nightly', 'start no runs of the pipeline nightly at its planned times']],
  'schedule unpause': [['schedule unpause nightly', 'start runs at the planned times again']],
  resume: [
    ['resume', 'resume the newest suspended run'],
    ['resume 3o75', 'continue the run whose ID starts with 3o75, also from the background'],
  ],
  adopt: [['adopt 3o75va3hwx7o2', 'find the containers of the run; resume it afterwards']],
  cancel: [['cancel 3o75', 'stop the containers; `finally` steps still run']],
  approve: [
    ['approve release', 'approve the step in the run in which it waits'],
    ['approve -r 3o75 release', 'approve the step in another run'],
  ],
  reject: [['reject release', 'reject the step in the run in which it waits: the step fails']],
  delete: [['delete 3o75', 'remove a run and its data, whatever its age']],
  gc: [
    ['gc --dry-run', 'show what would be removed'],
    ['gc --older-than 7d --max-size 20GB', 'keep the runs of the last week, and at most 20 GB of them'],
  ],
  orphans: [
    ['orphans', 'list containers that no run will use again'],
    ['orphans --cancel', 'cancel those of finished runs'],
  ],
  check: [
    ['check', 'show every error of pipeline.yaml with its position'],
    ['check digits.yaml --json', 'print the errors of another file as JSON, for an editor'],
  ],
  plan: [
    ['plan -p seed=7', 'show steps, cells, order and instance types'],
    ['plan --reuse', 'also show which steps `run --reuse` would reuse, and why not the others'],
  ],
  schema: [
    ['schema pipeline', 'print it for an editor; save it with: sluice schema pipeline > pipeline.schema.json'],
    ['schema runReport', 'show which keys `show --json` prints'],
  ],
  trust: [['trust', 'confirm the home after you have inspected its contents']],
  runs: [
    ['runs -n 10', 'list the ten newest runs'],
    ['runs --json', 'list all runs as JSON'],
  ],
  show: [
    ['show', 'show the newest run'],
    ['show --rows failed', 'show all items of the axes that have a failed cell'],
    ['show 3o75 --json', 'show everything about a run as JSON'],
  ],
  open: [['open 3o75', 'show a run in the browser, until Ctrl-C']],
  why: [
    ['why fit', 'explain a step of the newest run'],
    ['why -r 3o75 fit/model-a', 'explain one cell of a step of another run'],
    ['why fit --against previous', 'explain why a step differs from that of the previous run'],
  ],
  history: [
    ['history results/report/index.html', 'tell which attempt wrote a file that a run has published'],
    ['history fit/model-a.model', 'tell it of an output of a cell, and list who has reused or mounted it'],
  ],
  report: [
    ['report', 'report on the newest run and print the path of the page'],
    ['report 3o75 --to ./report', 'write the report to ./report'],
    ['report 3o75 --junit junit.xml', 'also write the result as JUnit XML, for a CI server'],
  ],
  mcp: [['mcp', 'read requests of an assistant from standard input (see docs/assistants.md)']],
  logs: [
    ['logs fit/model-a', 'show the log of a cell of the newest run'],
    ['logs -r 3o75 prepare --follow', 'follow the log until the container ends'],
    ['logs prepare --attempt 1 --tail 20', 'show the last 20 lines of the first attempt'],
  ],
  pull: [
    ['pull', 'copy all declared outputs of the newest run to ./results'],
    ['pull -r 3o75 best --to ./models', 'copy one output of another run to ./models'],
    ['pull fit/model-a.weights', 'copy an output of one cell'],
    ['pull fit.model/logs/loss.csv --to .', 'copy one file of an output to ./loss.csv'],
  ],
  serve: [['serve --config service.yaml', 'run the service (see docs/serve.md)']],
  login: [
    ['login https://containers.example.org', 'prompt for e-mail and password; save the profile `default`'],
    ['login https://gpu.example.org --profile gpu', 'save another profile; use it with --profile gpu'],
    ['login https://containers.example.org --token-stdin', 'read a token from standard input'],
  ],
  logout: [['logout gpu', 'remove the token of the profile gpu']],
  whoami: [['whoami --profile gpu', 'show the accounts of the login of that profile']],
  'profile list': [['profile list', 'show which profile applies here, and why']],
  'profile show': [['profile show gpu', 'show the settings of your profile gpu, without secrets']],
  'profile use': [['profile use gpu', 'use the service of your profile gpu in this home']],
  doctor: [
    ['doctor', 'show which engines work'],
    ['doctor --bundle bundle.tar.gz -r 3o75', 'write an archive about a run for a bug report'],
  ],
  completion: [
    ['completion bash', 'print the script; load it with: source <(sluice completion bash)'],
    ['completion zsh', 'print the script for zsh'],
  ],
  'admin user add': [['admin user add ada@example.org --config service.yaml', 'add a user; prompt for the password']],
  'admin user grant': [
    ['admin user grant ada@example.org main/physics --config service.yaml', 'allow a user to use an account'],
  ],
  'admin account add': [['admin account add main/physics --config service.yaml', 'add an account']],
  'admin cluster add': [
    [
      'admin cluster add main engine=process --instance-type small,cpu=1,memory=4GB --config service.yaml',
      'add a cluster with one instance type',
    ],
  ],
  'admin instance-type add': [
    ['admin instance-type add main/large cpu=8 memory=64GB --config service.yaml', 'add an instance type to a cluster'],
  ],
  'admin certificate': [['admin certificate --config service.yaml', 'print the file to distribute to clients']],
};

/** Appends the examples of each command to its help; commands without examples are unchanged. */
export function addExamples(commands: readonly Command[]): void {
  for (const command of commands) {
    const examples = own(EXAMPLES, commandName(command));
    if (!examples) continue;
    const lines = examples.map(([line, meaning]) => `  sluice ${line}\n      ${meaning}\n`);
    command.addHelpText('after', `\nExamples:\n${lines.join('')}`);
  }
}
