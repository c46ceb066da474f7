import { type Profiler, Session } from 'node:inspector';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePipeline } from '../../src/index.ts';

const HEAD = 'version: 1\nname: x\n';
const ONE = 'steps: { a: { command: [a] } }\n';
const STEP = `${HEAD}steps:\n  a:\n    command: [a]\n`;
const many = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('');

/** Files of `n` of the same thing. */
const FILES: Readonly<Record<string, (n: number) => string>> = {
  'unknown keys': (n) => `${HEAD}${many(n, (at) => `key${at}: 1\n`)}${ONE}`,
  'unknown keys of a step': (n) => `${STEP}${many(n, (at) => `    key${at}: 1\n`)}`,
  'misspelt steps': (n) => `${HEAD}steps:\n${many(n, (at) => `  s${at}: { comand: [a] }\n`)}`,
  'names of steps that are none': (n) => `${HEAD}steps:\n${many(n, (at) => `  S_${at}: { command: [a] }\n`)}`,
  'malformed lines': (n) => `${HEAD}steps:\n${many(n, (at) => `  : : ] [ }${at}\n`)}`,
  'values with something behind them': (n) => `${HEAD}steps:\n${many(n, (at) => `  a${at}: "b" c\n`)}`,
  'malformed lines of JSON': (n) => `{\n${many(n, (at) => `"a${at}" 1,\n`)}}`,
  'duplicate keys of JSON': (n) => `{${many(n, (at) => `"a": ${at},\n`)}"b": 1}`,
  'large integers of JSON': (n) => `{"a": [${many(n, (at) => `1234567890123456${at},`)}1]}`,
  'blanks of JSON': (n) => `{"a":${' '.repeat(n)}1, "a": "${'\\n'.repeat(n)}"}`,
  'misspelt steps of JSON': (n) => `{"steps": {${many(n, (at) => `"s${at}": {"comand": ["a"]},`)}"a": {}}}`,
  comments: (n) => `${HEAD}${many(n, (at) => `# comment ${at}\n`)}${ONE}bogus: 1\n`,
  'comments in a list': (n) => `[${many(n, (at) => ` # comment ${at}\n`)}]`,
  documents: (n) => many(n, () => '---\n'),
  'documents of a line': (n) => many(n, () => '---\na: 1\n'),
  'ends of documents': (n) => many(n, () => '...\n'),
  directives: (n) => `${many(n, () => '%YAML 1.2\n')}---\na: 1\n`,
  brackets: (n) => '['.repeat(n),
  aliases: (n) => `${HEAD}x-a: &a [1]\nx-b: [${many(n, () => '*a, ')}]\n${ONE}`,
  'aliases without anchors': (n) => `${HEAD}x-b: [${many(n, (at) => `*a${at}, `)}]\n${ONE}`,
  anchors: (n) => `${HEAD}${many(n, (at) => `x-a${at}: &a${at} [1]\n`)}${ONE}bogus: 1\n`,
  merges: (n) => `${HEAD}x-a: &a {a: 1}\nx-b:\n  <<: [${many(n, () => '*a, ')}]\n${ONE}`,
  'one key': (n) => `${HEAD}${many(n, () => 'a: 1\n')}`,
  tags: (n) => `${HEAD}${many(n, (at) => `x-a${at}: !foo 1\n`)}`,
  'inputs of steps that are none': (n) => `${STEP}    inputs:\n${many(n, (at) => `      i${at}: q.x${at}\n`)}`,
  'inputs of outputs that are none': (n) =>
    `${STEP}    outputs:\n${many(n, (at) => `      o${at}: /o/${at}\n`)}${many(n, (at) => `  s${at}: { command: [a], inputs: { i: a.p${at} } }\n`)}`,
  'volumes that are none': (n) =>
    `${HEAD}volumes:\n${many(n, (at) => `  v${at}: { source: a }\n`)}steps:\n${many(n, (at) => `  s${at}: { command: [a], inputs: { i: volumes.w${at} } }\n`)}`,
  'params that are none': (n) =>
    `${HEAD}params:\n${many(n, (at) => `  v${at}: a\n`)}steps:\n${many(n, (at) => `  s${at}: { command: ["\${{ params.w${at} }}"] }\n`)}`,
  'pools that are none': (n) =>
    `${HEAD}pools:\n${many(n, (at) => `  v${at}: 1\n`)}steps:\n${many(n, (at) => `  s${at}: { command: [a], pools: { w${at}: 1 } }\n`)}`,
  'axes that are none': (n) =>
    `${STEP}    env:\n${many(n, (at) => `      E${at}: "\${{ matrix.y${at} }}"\n`)}    matrix:\n      x: [1]\n      include:\n${many(n, (at) => `        - { z${at}: 1 }\n`)}`,
  'expressions of one script': (n) =>
    `${HEAD}steps:\n  a:\n    script: |\n${many(n, (at) => `      echo \${{ params.x${at} }}\n`)}`,
  'needs that read what failed': (n) =>
    `${HEAD}steps:\n${many(n, (at) => `  s${at}: { command: [a], outputs: { o: /o } }\n`)}  z:\n    command: [a]\n    inputs:\n${many(n, (at) => `      i${at}: s${at}.o\n`)}    needs:\n${many(n, (at) => `      s${at}: failed\n`)}`,
  cycles: (n) => `${HEAD}steps:\n${many(n, (at) => `  s${at}: { command: [a], needs: [s${at ^ 1}] }\n`)}`,
  'outputs to one place': (n) =>
    `${HEAD}steps: { a: { command: [a], outputs: { o: /o } } }\noutputs:\n${many(n, (at) => `  o${at}: { from: a.o, publish: ./r }\n`)}`,
};

const session = new Session();

/** How often all blocks of all code have been executed while it ran: the same on every machine, however busy. */
function countWork(run: () => void): number {
  post('Profiler.takePreciseCoverage');
  run();
  const { result } = post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType;
  let count = 0;
  for (const { functions } of result)
    for (const { ranges } of functions) for (const range of ranges) count += range.count;
  return count;
}

function post(method: string, parameters: object = {}): unknown {
  let answer: unknown;
  session.post(method, parameters, (error, result) => {
    if (error !== null) throw new Error(`${method}: ${JSON.stringify(error)}`);
    answer = result;
  });
  return answer;
}

beforeAll(() => {
  session.connect();
  post('Profiler.enable');
  post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
});

afterAll(() => session.disconnect());

describe('parsePipeline takes no more than twice the work for twice as many', () => {
  it.each(Object.keys(FILES))('%s', (name) => {
    const work = (n: number): number => countWork(() => parsePipeline({ file: 'p.yaml', text: FILES[name]!(n) }));
    work(400);
    const [once, twice] = [work(400), work(800)];
    expect(twice / once, `${once} and ${twice} executed blocks`).toBeLessThan(2.3);
  });
});
