import { own } from '@sluice/core';
import type { Command } from 'commander';

/** Example and what it does, by command; shown at the end of its `--help`. */
const EXAMPLES: Readonly<Record<string, readonly (readonly [line: string, meaning: string])[]>> = {
  run: [
    ['run pipeline.yaml', 'run it, and stay until it is over'],
    [`run pipeline.yaml -p seed=7 -p 'models=["a","b"]'`, 'with other values of its parameters'],
    ['run pipeline.yaml --reuse', 'after a failure or a change: only what is left or differs'],
    ['run pipeline.yaml --again fit', 'and the step fit anew, with all that depends on it'],
    ['run pipeline.yaml --parallelism 4 --json', 'four containers at once, events as JSON lines'],
    ['run pipeline.yaml --service https://containers.example.org', 'on another service'],
  ],
  schedule: [
    ['schedule nightly.yaml', 'run it at its times, until interrupted'],
    ['schedule nightly.yaml --next 5', 'only show the next five times'],
    ['schedule nightly.yaml --backfill 2026-11-01..2026-11-07', 'make up for a week'],
  ],
  resume: [
    ['resume', 'go on with the newest run that stands still'],
    ['resume 3o75', 'with the one whose ID begins so'],
  ],
  adopt: [['adopt 3o75va3hwx7o2 pipeline.yaml', 'find its containers again, then resume it']],
  cancel: [['cancel 3o75', 'stop its containers; finally steps still run']],
  approve: [
    ['approve 3o75 release', 'answer yes'],
    ['approve 3o75 release --reject', 'answer no'],
  ],
  gc: [
    ['gc --dry-run', 'say what would go'],
    ['gc --older-than 7d --max-size 20GB', 'keep a week, and no more than that'],
    ['gc --orphans', 'look for containers that nobody asks for again'],
  ],
  check: [
    ['check pipeline.yaml', 'every fault with its place'],
    ['check pipeline.yaml --json', 'for an editor'],
  ],
  plan: [
    ['plan pipeline.yaml -p seed=7', 'steps, cells, order and instance types; starts nothing'],
    ['plan pipeline.yaml --reuse', 'and what a run with --reuse would take over, and why not the rest'],
  ],
  trust: [['trust', 'after you have looked at what the home holds; shows what it confirms']],
  runs: [
    ['runs -n 10', 'the ten newest'],
    ['runs --json', 'for programs'],
  ],
  show: [
    ['show', 'the newest run'],
    ['show 3o75 --json', 'everything as JSON'],
  ],
  why: [
    ['why fit', 'about a step of the newest run: what it waits for, why it failed or ran again'],
    ['why 3o75 fit/model-a', 'about one of its cells'],
  ],
  report: [
    ['report', 'the newest run: prints where its page is'],
    ['report 3o75 --out ./report', 'into a directory of its own, to pass on'],
  ],
  logs: [
    ['logs fit/model-a', 'of the newest run'],
    ['logs 3o75 prepare --follow', 'until it has ended'],
    ['logs 3o75 prepare --attempt 1 --tail 20', 'the end of its first try'],
  ],
  pull: [
    ['pull', 'all outputs of the newest run, into ./results'],
    ['pull 3o75 best --to ./models', 'one of them'],
  ],
  serve: [['serve --config service.yaml', 'see docs/serve.md']],
  authority: [['authority --config service.yaml', 'the file to give to clients']],
  doctor: [['doctor', 'which engines work here']],
  completion: [
    ['completion bash', 'print it; use it with: source <(sluice completion bash)'],
    ['completion zsh', 'the same for zsh'],
  ],
  'user add': [['user add ada@example.org --config service.yaml', 'asks for the password']],
  'user grant': [['user grant ada@example.org main/physics --config service.yaml', 'let her use that account']],
  'account add': [['account add main/physics --config service.yaml', 'an account that users can be granted']],
  'cluster add': [
    [
      'cluster add main engine=process --instance-type small,cores=1,memoryGB=4 --config service.yaml',
      'a cluster with one type',
    ],
  ],
  'instance-type add': [
    ['instance-type add main/large cores=8 memoryGB=64 --config service.yaml', 'another type of that cluster'],
  ],
};

/** Gives the commands their examples. */
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
