export interface CheckExample {
  readonly title: string;
  readonly about: string;
  readonly text: string;
  readonly codes: readonly string[];
}

const HEAD = 'version: 1\nname: demo\n';

function example(title: string, about: string, options: { text: string; codes: readonly string[] }): CheckExample {
  return { title, about, text: HEAD + options.text.replace(/^\n/, ''), codes: options.codes };
}

/** One for each check, in the order of the page. */
export const EXAMPLES: readonly CheckExample[] = [
  example('Unknown keys', 'A key that does not exist is an error, never ignored. Keys that begin with `x-` are free.', {
    codes: ['unknown-key', 'unknown-key', 'unknown-key'],
    text: `
max_parallel: 4
x-note: free
steps:
  fit:
    comand: [node, fit.mjs]
    retry: { limits: 2 }
`,
  }),
  example('Keys of other systems', 'Where a key belongs to another system, the message names ours.', {
    codes: ['unknown-key', 'unknown-key', 'unknown-key', 'unknown-key'],
    text: `
steps:
  fit:
    runs-on: large
    dependsOn: [prepare]
    command: [node, fit.mjs]
    withItems: [1, 2]
  prepare:
    command: [node, prepare.mjs]
tasks: {}
`,
  }),
  example('Wrong types', 'A value of another kind than the key takes.', {
    codes: ['wrong-type', 'wrong-type', 'wrong-type', 'wrong-type'],
    text: `
steps:
  prepare:
    command: [sleep, 5]
  fit:
    command: [node, fit.mjs]
    needs: prepare
    env: [SEED=1]
    continueOnError: sometimes
`,
  }),
  example('Wrong values', 'A word that is not one of those that the key takes, or a number out of its range.', {
    codes: ['wrong-value', 'out-of-range', 'out-of-range'],
    text: `
steps:
  fit:
    command: [node, fit.mjs]
    retry: { on: [infrastucture], exitCodes: [300] }
    maxParallel: 0
    matrix: { seed: [1] }
`,
  }),
  example('Missing keys', 'A key without which its map has no meaning.', {
    codes: ['missing-key', 'missing-key'],
    text: `
schedule: { timezone: Europe/Berlin }
steps:
  fit:
    command: [node, fit.mjs]
    inputs: { data: { path: /in } }
`,
  }),
  example('Names', 'Steps, volumes, pools and ports are named with lower-case letters, digits and `-`.', {
    codes: ['bad-name', 'bad-name'],
    text: `
steps:
  fitModel:
    command: [node, fit.mjs]
    env: { "MY VARIABLE": x }
`,
  }),
  example('Durations and sizes', 'Numbers that mean a time or an amount of memory have a unit.', {
    codes: ['missing-unit', 'bad-duration', 'bad-size'],
    text: `
timeout: 30
steps:
  fit:
    command: [node, fit.mjs]
    timeout: 5 minutes
    resources: { memory: 4G }
`,
  }),
  example('Duplicate keys', 'YAML forbids a key that stands twice in one map.', {
    codes: ['duplicate-key'],
    text: `
steps:
  fit:
    command: [node, fit.mjs]
  fit:
    command: [node, other.mjs]
`,
  }),
  example('Syntax', 'The file is no YAML.', {
    codes: ['syntax'],
    text: `
steps:
  fit:
    command: [node, fit.mjs
`,
  }),
  example('Aliases', 'An alias needs its anchor before it.', {
    codes: ['alias'],
    text: `
steps:
  fit: *common
`,
  }),
  example('Values that a pipeline cannot hold', 'Tags of other tools, and numbers that JSON cannot hold.', {
    codes: ['unknown-tag'],
    text: `
steps:
  fit:
    command: !reference [common, command]
`,
  }),
  example('Several documents', 'A file is one pipeline.', {
    codes: ['several-documents'],
    text: `
steps:
  fit:
    command: [node, fit.mjs]
---
version: 1
`,
  }),
  example('Forms of edges', 'An edge begins at an output of a step, or at a volume.', {
    codes: ['bad-edge', 'bad-edge'],
    text: `
steps:
  fit:
    command: [node, fit.mjs]
    inputs: { data: prepare }
    outputs: { model: /model }
outputs:
  model: { from: volumes.models/best }
`,
  }),
  example('Other files', 'Files under `include` and `uses` can be read. (This page is made without other files.)', {
    codes: ['unreadable-file', 'unreadable-file'],
    text: `
include: common.yaml
steps:
  fit:
    uses: ./fit.yaml
`,
  }),
  example('Nothing to run', 'Every step has a program, or is an approval.', {
    codes: ['nothing-to-run'],
    text: `
steps:
  fit:
    env: { SEED: "1" }
`,
  }),
  example('No steps', 'A pipeline has at least one step.', {
    codes: ['no-steps'],
    text: `
steps: {}
`,
  }),
  example('Keys that exclude each other', 'Two answers to one question.', {
    codes: ['conflicting-keys', 'conflicting-keys'],
    text: `
steps:
  fit:
    command: [node, fit.mjs]
    script: node fit.mjs
    instanceType: large
    resources: { cpu: 4 }
`,
  }),
  example('Unknown steps, outputs and volumes', 'Every edge begins somewhere.', {
    codes: ['unknown-step', 'unknown-output', 'unknown-volume', 'unknown-step', 'unknown-step'],
    text: `
volumes:
  raw: { source: ./data }
steps:
  prepare:
    command: [node, prepare.mjs]
    inputs: { raw: volumes.raw }
    outputs: { clean: /out }
  fit:
    command: [node, fit.mjs]
    inputs:
      a: prepaer.clean
      b: prepare.claen
      c: volumes.row
      d: raw.data
    needs: [preparation]
`,
  }),
  example('Cycles', 'No step waits for itself. Each knot is reported once, from its first step.', {
    codes: ['cycle'],
    text: `
steps:
  a:
    command: [node, a.mjs]
    needs: [c]
  b:
    command: [node, b.mjs]
    inputs: { data: a.out }
    outputs: { out: /out }
  c:
    command: [node, c.mjs, "\${{ steps.b.status }}"]
    outputs: { out: /out }
    needs: [b]
  d:
    command: [node, d.mjs]
    needs: [c]
`.replace('    inputs: { data: a.out }', '    needs: [a]'),
  }),
  example('Mount points', 'Two things cannot be mounted at one place.', {
    codes: ['duplicate-mount', 'bad-path', 'bad-path'],
    text: `
steps:
  fit:
    command: [node, fit.mjs]
    outputs:
      model: /out
      report: /out/
      score: /sluice/results
      log: logs
`,
  }),
  example('Expressions that cannot be read', 'Expressions are in CEL, within `${{ }}`.', {
    codes: ['bad-expression', 'bad-expression', 'bad-expression'],
    text: `
params: { size: 3 }
steps:
  fit:
    command: [node, fit.mjs, "\${{ params.size + }}", "\${{ params.size"]
    when: params.size > 2
`,
  }),
  example('Names in expressions', 'Every name in an expression exists.', {
    codes: ['unknown-name', 'unknown-name', 'unknown-name', 'unknown-result', 'unknown-step', 'unknown-name'],
    text: `
params: { seeds: [1, 2] }
steps:
  prepare:
    command: [node, prepare.mjs]
    results: { rows: integer }
  fit:
    matrix: { seed: "\${{ params.seeds }}" }
    command:
      - \${{ params.sedes }}
      - \${{ matrix.sead }}
      - \${{ parameters.seeds }}
      - \${{ steps.prepare.results.row }}
      - \${{ steps.prepaer.results.rows }}
      - \${{ item }}
`,
  }),
  example('Hyphens in expressions', 'To CEL a hyphen is a minus.', {
    codes: ['hyphen'],
    text: `
steps:
  prepare-data:
    command: [node, prepare.mjs]
    results: { rows: integer }
  fit:
    command: [node, fit.mjs, "\${{ steps.prepare-data.results.rows }}"]
`,
  }),
  example('Types in expressions', 'What an expression yields is what its place takes.', {
    codes: ['wrong-type', 'wrong-type', 'wrong-type'],
    text: `
params: { size: 3, seeds: [1, 2] }
steps:
  fit:
    command: [node, fit.mjs, "\${{ params.size + 'x' }}"]
    when: \${{ params.size }}
  each:
    foreach: \${{ params.size > 2 }}
    command: [echo, "\${{ item }}"]
`,
  }),
  example(
    'Expressions in scripts',
    'In a shell script an expression becomes a quoted variable. Other interpreters would run it as a part of the program.',
    {
      codes: ['expression-in-script'],
      text: `
params: { text: hello }
steps:
  greet:
    shell: [node]
    script: console.log("\${{ params.text }}")
`,
    },
  ),
  example('Secrets', 'A secret is the whole value of an environment variable, and never part of a command or a text.', {
    codes: ['unknown-name', 'secret-in-text', 'unknown-secret'],
    text: `
secrets: [TOKEN]
steps:
  push:
    command: [curl, "\${{ secrets.TOKEN }}"]
    env:
      FINE: \${{ secrets.TOKEN }}
      HEADER: Bearer \${{ secrets.TOKEN }}
    secrets: [TOKENS]
`,
  }),
  example('Parameters', 'A default is of its type and within its bounds; a pattern can be matched in linear time.', {
    codes: ['bad-param', 'bad-param', 'bad-param', 'unknown-key'],
    text: `
params:
  size: { type: integer, default: big }
  rate: { type: number, minimum: 0, default: -1 }
  name: { pattern: "(?=x)y", default: y }
  mode: { default: fast, choices: [fast, slow] }
steps:
  fit:
    command: [node, fit.mjs]
`,
  }),
  example('Matrices', 'A matrix has axes, and a bounded number of cells.', {
    codes: ['wrong-type', 'unknown-axis', 'bad-matrix'],
    text: `
steps:
  one:
    matrix: { seed: all, exclude: [{ sead: 1 }] }
    command: [node, fit.mjs]
  two:
    matrix: {}
    command: [node, fit.mjs]
`,
  }),
  example('Needs', 'A condition that can hold, of a step that can be waited for.', {
    codes: ['not-a-service', 'conflicting-need', 'final-dependency'],
    text: `
steps:
  prepare:
    command: [node, prepare.mjs]
    outputs: { clean: /out }
  one:
    command: [node, one.mjs]
    needs: { prepare: running }
  two:
    command: [node, two.mjs]
    inputs: { clean: prepare.clean }
    needs: { prepare: failed }
  three:
    command: [node, three.mjs]
    needs: [tidy]
finally:
  tidy:
    command: [node, tidy.mjs]
`,
  }),
  example('Retries', 'A retry that could never happen is a mistake.', {
    codes: ['unsatisfiable-retry', 'unsatisfiable-retry', 'unsatisfiable-retry'],
    text: `
steps:
  fit:
    command: [node, fit.mjs]
    retry:
      limit: 0
      on: [oom]
      exitCodes: [3]
      backoff: { initial: 1m, max: 1s }
      escalate: [large]
`,
  }),
  example('Times', 'All attempts together take at least as long as one.', {
    codes: ['conflicting-times', 'out-of-range'],
    text: `
steps:
  fit:
    command: [node, fit.mjs]
    timeout: 2h
    deadline: 1h
    queueTimeout: 0s
`,
  }),
  example('Pools', 'A pool exists and has as many tokens as a step takes.', {
    codes: ['unknown-pool', 'pool-too-small'],
    text: `
pools: { licence: 2 }
steps:
  one:
    command: [node, fit.mjs]
    pools: { license: 1 }
  two:
    command: [node, fit.mjs]
    pools: { licence: 3 }
`,
  }),
  example('Room', 'A service runs for as long as its dependents: what they take together must fit.', {
    codes: ['never-starts', 'never-starts'],
    text: `
parallelism: 1
pools: { gpu: 2 }
steps:
  model:
    command: [serve]
    service: true
    pools: { gpu: 1 }
  ask:
    needs: [model]
    command: [node, ask.mjs]
    pools: { gpu: 2 }
`,
  }),
  example('Services', 'A service is asked on a port that it has.', {
    codes: ['unknown-port', 'conflicting-keys'],
    text: `
steps:
  database:
    command: [serve]
    ports: { http: { https: {} } }
    service: { ready: { port: htpp } }
    cache: true
`,
  }),
  example('Ends of services', 'A service ends with the last step that uses it, which must not wait for that end.', {
    codes: ['service-never-ends'],
    text: `
steps:
  database:
    command: [serve]
    service: true
  save:
    needs: { database: completed }
    command: [node, save.mjs]
  ask:
    needs: [database, save]
    command: [node, ask.mjs]
`,
  }),
  example('Volumes', 'A volume exists already or is made from local files, and something mounts it.', {
    codes: ['unused', 'conflicting-keys'],
    text: `
volumes:
  raw: { id: raw-1, source: ./data }
steps:
  fit:
    command: [node, fit.mjs]
`,
  }),
  example('Schedules', 'Cron expressions have five fields within their ranges, and the time zone exists.', {
    codes: ['bad-cron', 'bad-cron', 'bad-timezone'],
    text: `
schedule:
  cron: ["0 25 * * *", "* * *"]
  timezone: Europe/Berlyn
steps:
  fit:
    command: [node, fit.mjs]
`,
  }),
  example('Publishing', 'Two outputs are not published to one place.', {
    codes: ['duplicate-mount'],
    text: `
steps:
  fit:
    command: [node, fit.mjs]
    outputs: { model: /model, report: /report }
outputs:
  model: { from: fit.model, publish: ./out }
  report: { from: fit.report, publish: ./out }
`,
  }),
];
