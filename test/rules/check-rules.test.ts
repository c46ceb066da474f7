import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
// @ts-expect-error a program of the workspace, without types
import { judgeTree } from '../../scripts/judge-tree.mjs';
// @ts-expect-error a program of the workspace, without types
import { judgeCounts } from '../../scripts/source-rules.mjs';

const SCRIPT = fileURLToPath(new URL('../../scripts/check-rules.mjs', import.meta.url));

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-rules-'));
  spawnSync('git', ['init', '-q'], { cwd: root });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** What the program says of a tree with these files, without its last line, and its exit code. */
async function check(files: Record<string, string>): Promise<{ faults: string[]; status: number }> {
  write(files);
  const { lines, status } = (await judgeTree(root)) as { lines: string[]; status: number };
  return { faults: lines.slice(0, -1), status };
}

test.each([
  ['no violations', { 'README.md': '# Words\n' }, '2 files, no violations\n', 0],
  ['a violation', { 'packages/core/src/step.ts': 'const jobID = b;\n' }, 'jobID: write jobId', 1],
])('check-rules prints %s and exits accordingly', (_, files: Record<string, string>, text, status) => {
  write({ LICENSE: '', ...files });
  const ended = spawnSync(process.execPath, [SCRIPT, root], { encoding: 'utf8' });
  expect(ended).toMatchObject({ status, stdout: expect.stringContaining(text), stderr: '' });
});

test('check-rules accepts a tree that keeps them', async () => {
  const files = {
    'packages/core/src/step.ts': "import { z } from 'zod';\nexport const stepSchema = z.string();\n",
    'packages/core/package.json': '{"dependencies": {"zod": "4"}}\n',
    'packages/runner/src/index.ts': "export { type Step } from '@sluice/core';\n",
    'README.md': '# Words\n\n[here](#words), [there](docs/there.md), [out](https://example.com)\n',
    'docs/there.md': 'Back to the [start](../README.md#words)\n',
  };
  expect(await check(files)).toEqual({ faults: [], status: 0 });
});

test.each([
  [
    'an ID that is none of the protocol, in its spelling',
    'packages/service/src/step.ts',
    'const clusterID = a;\nconst jobID = b;\n',
    '2: jobID: write jobId',
  ],
  [
    'a package that imports against the table',
    'packages/core/src/step.ts',
    "import {\n  a\n} from '@sluice/client';\nexport const step = a;\n",
    '3: core may not import client',
  ],
  [
    'a service that reads pipelines',
    'packages/service/src/step.ts',
    "import { parseSize, parsePipeline } from '@sluice/core';\nexport const step = [parseSize, parsePipeline];\n",
    '1: service may not import parsePipeline of core',
  ],
  [
    'a package that depends against the table',
    'packages/client/package.json',
    '{"dependencies": {"@sluice/core": "1"}}',
    '1: client may not depend on core',
  ],
  [
    'an import of a package with a hyphen in its name, against the table',
    'packages/client/src/index.ts',
    "import { lockFile } from '@sluice/host-system';\nexport const lock = lockFile;\n",
    '1: client may not import host-system',
  ],
  [
    'an import past another index.ts',
    'packages/runner/src/index.ts',
    "import '../../core/src/step.ts';\n",
    'reaches into another package',
  ],
  ['a file that is too long', 'packages/core/src/index.ts', 'export {};\n'.repeat(351), '351: 351 lines, at most 350'],
  ['export *', 'packages/core/src/index.ts', "export * from './a.ts';\n", '1: "export *" hides'],
  [
    'a command that loads a whole package',
    'packages/cli/src/start.ts',
    "export const start = async () => (await import('@sluice/core')).start();\n",
    '1: loads a whole package',
  ],
  [
    'a file named after nothing in it',
    'packages/core/src/graph.ts',
    'export function sortSteps() {}\n',
    'named after none of its exports sortSteps',
  ],
  [
    'a file name that fits anything',
    'packages/core/src/parse-utils.ts',
    'export function parseUtils() {}\n',
    'says nothing',
  ],
  [
    'a test that sleeps',
    'packages/core/test/step.test.ts',
    `await new Promise((done) => set${'Timeout'}(done, 50));\n`,
    '1: a test that sleeps',
  ],
  [
    'a package registry',
    'docs/install.md',
    `see ${'https'}://registry.example.com/sluice\n`,
    '1: names a package registry',
  ],
  ['a dead link', 'README.md', '[gone](docs/gone.md)\n', '1: link to "docs/gone.md" leads nowhere'],
  ['a link to a heading that is not there', 'README.md', '# One\n[two](#two)\n', '2: link to "#two" leads nowhere'],
  [
    'a test of a folder that is not there',
    'packages/core/test/graphs/graph.test.ts',
    'export {};\n',
    '1: there is no folder packages/core/src/graphs',
  ],
  ['a leftover', 'packages/core/src/index.ts', `// ${'TO'}DO later\n`, '1: left over'],
])('check-rules rejects %s', async (_what, path, text, message) => {
  const { faults, status } = await check({ [path]: text });
  expect(status).toBe(1);
  expect(faults).toEqual([expect.stringContaining(message)]);
  expect(faults[0]).toMatch(new RegExp(`^${path}:`));
});

test.each([
  [
    'a file in code',
    '[`create-plan.ts`](src/parse-plan.ts)',
    'link to "src/parse-plan.ts" has the text "`create-plan.ts`"',
  ],
  ['a file', '[plan.ts](src/parse-plan.ts)', 'has the text "plan.ts"'],
  ['a path', '[core/parse-plan.ts](src/parse-plan.ts)', 'has the text "core/parse-plan.ts"'],
  ['a file, with a folder as the target', '[`parse-plan.ts`](src)', 'has the text "`parse-plan.ts`"'],
  ['a page', '[start.md](0039-layers.md#layers)', 'has the text "start.md"'],
  ['a decision', '`[a](b)` ([decision 0038](0039-layers.md))', 'link to "0039-layers.md" has the text "decision 0038"'],
  ['a decision, by its number', '[0038](src/parse-plan.ts)', 'has the text "0038"'],
])('check-rules rejects a link whose text names another target: %s', async (_what, text, message) => {
  const files = { '0039-layers.md': '# Layers\n', 'src/parse-plan.ts': '', 'README.md': `${text}\n` };
  const { faults, status } = await check(files);
  expect(status).toBe(1);
  expect(faults).toEqual([expect.stringMatching(/^README\.md:1: /)]);
  expect(faults[0]).toContain(message);
});

test('check-rules accepts a link whose text names its target, is no name, or is a file that the page explains', async () => {
  const files = {
    'docs/0039-layers.md': '[start](#the-run-layers)\n\n# The `run` layers\n\nBack to [README.md](../README.md)\n',
    'docs/src/parse-plan.ts': '',
    'README.md': [
      '[`parse-plan.ts`](docs/src/parse-plan.ts) [src/parse-plan.ts](docs/src/parse-plan.ts) [parser](docs/src/parse-plan.ts)',
      '[0039](docs/0039-layers.md) [Decision 0039](docs/0039-layers.md) [why](docs/0039-layers.md) `[0038](gone.md)`',
      '[`report.json`](docs/0039-layers.md) [`docs/src`](docs/src) [other.ts](https://example.com/parse-plan.ts)\n',
    ].join('\n'),
  };
  expect(await check(files)).toEqual({ faults: [], status: 0 });
});

test.each([
  ['function-length', `function long() {\n${'  void 0;\n'.repeat(59)}}\n`, '1: a function of 61 lines, at most 60'],
  [
    'positional-parameters',
    'const sum = (a: 1, b: 1, c: 1, d: 1) => [[a, b, c, d].map((x, _i, _all, ...rest) => [x, rest])];\nsum(1, 1, 1, 1);\n',
    '1: 4 positional parameters, at most 3; use an object',
  ],
  [
    'documented-exports',
    '/** It. */\nexport function step(a: string): void;\nexport function step(): void {}\nexport type Other = 1;\n',
    '4: no comment for the export Other',
  ],
  ['message-form', "throw new TypeError('could not read it.');\n", '1: a message ends with a full stop'],
  ['message-form', "throw new Error(`${1} can't be read`);\n", '1: a message has a contraction'],
])('check-rules rejects what is against %s in a package without exceptions', async (rule, text, message) => {
  const { faults, status } = await check({ [`scripts/rules/${rule}.mjs`]: '', 'packages/new/src/index.ts': text });
  expect(status).toBe(1);
  expect(faults.filter((fault) => !fault.includes('lower the count'))).toEqual([
    expect.stringContaining(`packages/new/src/index.ts:${message}`),
  ]);
});

test('check-rules rejects a long function', async () => {
  const long = `function long() {\n${'  void 0;\n'.repeat(59)}}\n`;
  const files = { 'scripts/rules/function-length.mjs': '', 'packages/cli/src/index.ts': long };
  expect(await check(files)).toMatchObject({
    faults: expect.arrayContaining([expect.stringMatching(/^packages\/cli\/src\/index\.ts:1: a function of 61 lines/)]),
    status: 1,
  });
});

test('a rule with counted exceptions says where fewer are left, and rejects one more', async () => {
  const tree = { files: [{ path: 'scripts/rules/some.mjs' }] };
  const found = (count: number) =>
    Array.from({ length: count }, (_, line) => ({ area: 'packages/cli', file: 'a.ts', line, message: 'bad' }));
  const judge = (count: number) => judgeCounts('some', tree, { found: found(count), counts: { 'packages/cli': 2 } });
  expect(judge(1)).toEqual([
    { file: 'scripts/rules/some.mjs', line: 1, message: 'lower the count of packages/cli from 2 to 1', isNote: true },
  ]);
  expect(judge(2)).toEqual([]);
  expect(judge(3)).toHaveLength(3);
});

test('check-rules rejects a folder of the sources that the architecture page does not name', async () => {
  const files = {
    'ARCHITECTURE.md': '[`plan`](packages/core/src/plan)\n',
    'packages/core/src/plan/plan.ts': 'export const plan = 1;\n',
    'packages/core/src/graph/graph.ts': 'export const graph = 1;\n',
  };
  expect((await check(files)).faults).toEqual([
    expect.stringContaining('no link to the folder packages/core/src/graph'),
  ]);
});

test('check-rules rejects an import from a higher layer, and a folder without a layer', async () => {
  const files = {
    'packages/runner/src/index.ts': "export { run } from './run/run.ts';\n",
    'packages/runner/src/run/run.ts': "import { fact } from '../session/fact.ts';\nexport const run = fact;\n",
    'packages/runner/src/session/fact.ts':
      "import {\n  type run\n} from '../run/run.ts';\nexport const fact: typeof run = 1;\n",
    'packages/runner/src/elsewhere/side.ts': "import { run } from '../run/run.ts';\nexport const side = run;\n",
  };
  const { faults, status } = await check(files);
  expect(status).toBe(1);
  expect(faults).toEqual([
    expect.stringMatching(/^packages\/runner\/src\/elsewhere\/side\.ts:1: the folder elsewhere has no place/),
    expect.stringMatching(/^packages\/runner\/src\/session\/fact\.ts:3: session may not import from run/),
  ]);
});

test('check-rules counts a folder without a layer to the one that it lies in', async () => {
  const files = {
    'packages/service/src/engines/engine.ts': "import './docker/docker.ts';\nexport const engine = 1;\n",
    'packages/service/src/engines/docker/docker.ts': "import '../../store/store.ts';\nexport const docker = 1;\n",
    'packages/service/src/store/store.ts': "import '../engines/docker/docker.ts';\nexport const store = 1;\n",
  };
  expect((await check(files)).faults).toEqual([
    expect.stringMatching(/^packages\/service\/src\/engines\/docker\/docker\.ts:1: engines may not import from store/),
  ]);
});

test('check-rules rejects a write to a part of the scheduler state by a module that does not own it', async () => {
  const scheduler = 'packages/run/src/scheduler';
  const body = [
    'export function failFast(run) {',
    '  run.stop = 1;',
    '  if (run.stop === 1 || run.wakeAt >= 2) run.stop++;',
    '  --run.blockers[run.index.lane[0]!]!;',
    '  run.over.length = 0;',
    '  run.timers.add({ at: run.now, flag: run.wakeAt <= 3 });',
    '  run.cells.cancel[0] |= 1;',
    '  const open = run.over.length === 0 && run.blockers[0] === 0;',
    '}',
    '',
  ].join('\n');
  const files = {
    [`${scheduler}/state/run-state.ts`]: [
      'export interface RunState {',
      '  // Objects that write themselves.',
      '  readonly timers: Timers;',
      '  // Written by stop-flow.ts.',
      '  stop: number;',
      '  wakeAt: number;',
      '  // Written by step-flow.ts.',
      '  readonly blockers: Int32Array;',
      '  readonly over: number[];',
      '}',
      '',
    ].join('\n'),
    [`${scheduler}/state/cell-table.ts`]:
      'export interface CellTable {\n  // Written by cancel-reason.ts.\n  cancel: Uint8Array;\n}\n',
    [`${scheduler}/flow/stop-flow.ts`]: body.replace('failFast', 'stopFlow'),
    [`${scheduler}/flow/fail-fast.ts`]: body,
  };
  const { faults, status } = await check(files);
  expect(status).toBe(1);
  const found = faults.map((fault) => /flow\/([\w-]+)\.ts:(\d+): writes (\S+), which/.exec(fault)?.slice(1).join(' '));
  expect(found).toEqual([
    ...['fail-fast 2 run.stop', 'fail-fast 3 run.stop', 'fail-fast 4 run.blockers', 'fail-fast 5 run.over'],
    ...['fail-fast 7 cells.cancel', 'stop-flow 4 run.blockers', 'stop-flow 5 run.over', 'stop-flow 7 cells.cancel'],
  ]);
});

test('check-rules rejects a record that is read by a foreign name, and nothing that is safe', async () => {
  const files = {
    'packages/core/tsconfig.json': '{"compilerOptions": {"strict": true, "lib": ["es2022"]}, "include": ["src"]}',
    'packages/core/src/pick.ts': [
      'export function pick(record: Record<string, number>, name: string, list: number[]): unknown {',
      '  const optional: { steps?: Record<string, number> } = {};',
      '  const unsafe = [record[name], name in record, optional.steps?.[name]];',
      "  const word: 'a' | 'b' = record.a ? 'a' : 'b';",
      "  const safe = [record.a, record['b'], record[word], list[0], new Map([[1, 2]]).get(1)];",
      '  for (const key in record) safe.push(record[key]);',
      '  for (const [key] of Object.entries(record)) safe.push(record[key]);',
      '  for (const key of list) safe.push(list[key]);',
      '  record[name] = 1;',
      '  delete record[name];',
      '  return [unsafe, safe];',
      '}',
      '',
    ].join('\n'),
  };
  const { faults, status } = await check(files);
  expect(status).toBe(1);
  expect(faults).toHaveLength(3);
  for (const fault of faults) expect(fault).toMatch(/^packages\/core\/src\/pick\.ts:3: .*own\(record, name\)/);
});

test('check-rules rejects packages whose versions or metadata differ', async () => {
  const common = { license: 'MIT', engines: { node: '>=20' } };
  const leader = { ...common, name: 'sluice', version: '1.0.0', description: 'd', keywords: [], files: [] };
  const client = { ...leader, name: '@sluice/client', publishConfig: { access: 'public' } };
  const files = (other: object) => ({
    'package.json': JSON.stringify(common, null, 2),
    'packages/cli/package.json': JSON.stringify({ ...leader, repository: { directory: 'packages/cli' } }, null, 2),
    'packages/client/package.json': JSON.stringify(
      { ...client, repository: { directory: 'packages/client' }, ...other },
      null,
      2,
    ),
  });
  expect((await check(files({}))).faults).toEqual([]);
  expect((await check(files({ version: '1.0.1' }))).faults).toEqual([
    expect.stringContaining('"version" is not "1.0.0"'),
  ]);
  expect((await check(files({ engines: { node: '>=22' } }))).faults).toEqual([
    expect.stringContaining('"engines" is not'),
  ]);
  expect((await check(files({ files: undefined }))).faults).toEqual([expect.stringContaining('has no "files"')]);
  expect((await check(files({ dependencies: { sluice: '1.0.0' } }))).faults).toContainEqual(
    expect.stringContaining('not by "workspace:*"'),
  );
});

test('check-rules rejects a second way to open the journal of a run', async () => {
  const opens = (from: string) =>
    `import { acquireLease, readLease } from '${from}';\nexport const run = acquireLease;\n`;
  const files = {
    'packages/runner/src/run/run.ts': opens('../journal/lease.ts'),
    'packages/home/src/journal/open-journal.ts': opens('./lease.ts').replace('const run', 'const openJournal'),
    'packages/cli/src/run/run.ts': opens('./embedded.ts'),
  };
  expect((await check(files)).faults).toEqual([
    expect.stringContaining('packages/runner/src/run/run.ts:1: uses acquireLease'),
  ]);
});

test('check-rules rejects synchronous calls to files that could block all clusters', async () => {
  const imports = (names: string, from = 'node:fs') => `import { ${names} } from '${from}';\nexport const run = 1;\n`;
  const service = 'packages/service/src';
  const files = {
    [`${service}/calls/run.ts`]: imports('existsSync, stat'),
    [`${service}/calls/whole.ts`]: "import * as fs from 'node:fs';\nexport const whole = fs;\n",
    [`${service}/calls/written.ts`]: imports('replaceFileSync', '@sluice/host-system'),
    [`${service}/containers/log-notifier.ts`]: imports('statSync'),
    [`${service}/containers/read-log.ts`]: imports('stat'),
    [`${service}/engines/limit-log.ts`]: imports('ftruncateSync'),
    [`${service}/proxy/read-listeners.ts`]: imports('readSync'),
    [`${service}/volumes/files/confined-tree.ts`]: imports('lstatSync,\n  writeSync'),
    'packages/cli/src/run.ts': imports('readFileSync'),
  };
  const { faults } = await check(files);
  const found = faults.map((fault) => fault.replace(/^.*\/(\S+:1: (?:\w+ no|uses \S+)).*\(([\w-]+)\)$/, '$1 $2'));
  expect(found.filter((fault) => fault.endsWith('synchronous-calls'))).toEqual([
    'run.ts:1: uses existsSync, synchronous-calls',
    'whole.ts:1: uses *, synchronous-calls',
    'written.ts:1: uses replaceFileSync, synchronous-calls',
    'read-log.ts:1: makes no synchronous-calls',
    'confined-tree.ts:1: uses writeSync: synchronous-calls',
  ]);
});

test('check-rules rejects the path of the checkout itself', async () => {
  expect((await check({ 'docs/place.md': `cd ${root}/packages\n` })).faults).toEqual([
    expect.stringContaining('which is only here'),
  ]);
});

const GLOSSARY = [
  '**reuse** Take an earlier result. Not: `take/takes over`, `anew`',
  '## Plain words',
  '| `nobody` | "no process" |',
  '## Exceptions',
  '| `anew` | `packages/cli` | the name of a key |',
].join('\n');

test.each([
  ['an identifier', 'packages/core/src/cell.ts', 'export const cell = { mayTakeOver: 1 };', '1: "take over"'],
  [
    'an identifier in capitals',
    'packages/core/src/cell.ts',
    'export const cell = 1;\nconst START_ANEW = 1;',
    '2: "anew"',
  ],
  ['a string', 'packages/core/src/cell.ts', "export const cell = 'takes over';", '1: "takes over"'],
  ['a template', 'packages/core/src/cell.ts', 'export const cell = `${{}} / ${1} nobody`;', '1: "nobody"'],
  [
    'a comment',
    'packages/core/src/cell.ts',
    '/**\n * Takes\n * over.\n */\nexport const cell = /`/;',
    '2: "takes over"',
  ],
  ['a file name', 'packages/core/src/anew/cell.ts', 'export const cell = 1;', '1: "anew"'],
  ['a document', 'docs/reuse.md', '# Reuse\n\nNobody waits.', '3: "nobody" is not a standard term; use "no process"'],
  ['an example', 'examples/reuse/pipeline.yaml', 'version: 1 # nobody waits', '1: "nobody"'],
])('check-rules rejects a word that the glossary disallows in %s', async (_what, path, text, message) => {
  const { faults, status } = await check({ 'docs/glossary.md': GLOSSARY, [path]: `${text}\n` });
  expect(status).toBe(1);
  expect(faults).toEqual([expect.stringContaining(`${path}:${message}`)]);
});

test('check-rules accepts a disallowed word in a quotation, as a part of another word, and where it is an exception', async () => {
  const files = {
    'docs/glossary.md': GLOSSARY,
    'docs/reuse.md': 'The key `anew`:\n\n```text\nnobody\n```\n',
    'packages/cli/src/start.ts': "export const start = 'anew';\n",
    'packages/core/src/manewver.ts': 'export const manewver = 1;\n',
  };
  expect(await check(files)).toEqual({ faults: [], status: 0 });
});
