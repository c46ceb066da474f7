import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as library from '../../src/index.ts';

let home: string;
let before: string;
// Calls with wrong options fall back to the working directory.
beforeAll(() => {
  before = process.cwd();
  home = join(mkdtempSync(join(tmpdir(), 'sluice-wrong-')), 'home');
  process.chdir(join(home, '..'));
});
afterAll(() => {
  process.chdir(before);
  rmSync(join(home, '..'), { recursive: true, force: true });
});

const TRAP = () => {
  throw new RangeError('a trap');
};
const circle: { self?: unknown } = {};
circle.self = circle;

/** Values that no parameter of the library accepts, except where absence or any object is allowed. */
const WRONG: readonly [string, unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['a number', 5],
  ['an empty text', ''],
  ['a function', () => 5],
  ['a symbol', Symbol('s')],
  ['a list', [undefined]],
  ['an empty object', {}],
  ['an object of wrong shape', { pipeline: 5, name: 5, file: {}, text: [], steps: null, home: 5, to: 5, signal: 5 }],
  ['a circle', circle],
  ['a large integer', { value: 5n, n: 5n }],
  ['a proxy whose getters throw', new Proxy({}, { get: TRAP, has: TRAP, ownKeys: TRAP })],
  ['an object whose getters throw', Object.defineProperty({}, 'home', { get: TRAP, enumerable: true })],
];

const built = () => {
  const p = library.pipeline('p');
  p.step('a', { command: ['true'] });
  return p;
};
const plan = () => library.createPlan(built().build());

type Call = (wrong: never) => unknown;

/** For each export, calls with a wrong value in each place. */
const CALLS: Readonly<Record<string, readonly Call[]>> = {
  pipeline: [
    (wrong) => library.pipeline(wrong),
    (wrong) => library.pipeline('p', wrong),
    (wrong) => library.pipeline('p', { params: wrong, volumes: wrong, defaults: wrong }).toJSON(),
    (wrong) => library.pipeline('p').axis(wrong, ['a']),
    (wrong) => library.pipeline('p').axis('a', wrong),
    (wrong) => library.pipeline('p').axis('a', { items: wrong, key: wrong, of: wrong }),
    (wrong) => library.pipeline('p').axis('a', { items: [1], key: () => wrong }),
    (wrong) => library.pipeline('p').axis('a', { distinct: wrong }),
    (wrong) => library.pipeline('p').axis('a', { distinct: [wrong, 'b' as never] }),
    (wrong) => library.pipeline('p').step('a', { each: wrong, command: ['x'] }),
    (wrong) => library.pipeline('p').step('a', { each: [wrong], inputs: { x: [wrong] }, command: ['x'] }),
    (wrong) =>
      library.pipeline('p').step('a', { inputs: { x: { from: wrong, where: wrong, all: wrong, optional: wrong } } }),
    (wrong) => library.pipeline('p').step(wrong, { command: ['x'] }),
    (wrong) => library.pipeline('p').step('a', wrong),
    (wrong) => library.pipeline('p').step('a', { command: wrong, env: wrong, inputs: wrong, needs: wrong }),
    (wrong) => library.pipeline('p').step('a', { outputs: wrong, results: wrong, ports: wrong, retry: wrong }),
    (wrong) =>
      library.pipeline('p').step('a', { inputs: { x: wrong, y: { from: wrong } }, needs: [wrong, [wrong]] as never }),
    (wrong) => library.pipeline('p').step('a', wrong, () => ({ command: ['x'] })),
    (wrong) => library.pipeline('p').step('a', { matrix: wrong }, () => ({ command: ['x'] })),
    (wrong) => library.pipeline('p').step('a', { matrix: { include: wrong } }, () => ({ command: ['x'] })),
    (wrong) => library.pipeline('p').step('a', { foreach: [1] }, wrong),
    (wrong) => library.pipeline('p').step('a', { foreach: [1] }, () => wrong),
    (wrong) => library.pipeline('p').uses(wrong, 'a.yaml'),
    (wrong) => library.pipeline('p').uses('a', wrong),
    (wrong) => library.pipeline('p').uses('a', 'a.yaml', wrong),
    (wrong) => library.pipeline('p').uses('a', 'a.yaml', { outputs: wrong, ports: wrong, results: wrong, with: wrong }),
    (wrong) => library.pipeline('p').output(wrong, { step: 'a', output: 'o' }),
    (wrong) => library.pipeline('p').output('o', wrong),
    (wrong) => library.pipeline('p').output('o', { step: 'a', output: 'o' }, wrong),
    (wrong) => library.pipeline('p').results(wrong),
    (wrong) => library.pipeline('p').results({ a: wrong }),
    (wrong) => built().build(wrong),
    (wrong) => library.pipeline('p', { include: 'a.yaml' }).build({ read: wrong }),
    (wrong) => library.pipeline('p', { include: 'a.yaml' }).build({ read: () => wrong }),
    (wrong) => library.pipeline('p', { volumes: { v: {} } }).volumes.v.at(wrong),
    (wrong) =>
      library
        .pipeline('p')
        .step('a', { command: ['x'], outputs: ['o'] })
        .outputs.o.at(wrong),
  ],
  expression: [(wrong) => library.expression(wrong)],
  loadPipeline: [(wrong) => library.loadPipeline(wrong), (wrong) => library.loadPipeline('p.yaml', { root: wrong })],
  loadTable: [(wrong) => library.loadTable(wrong), (wrong) => library.loadTable('t.csv', { columns: wrong })],
  safeLoadPipeline: [(wrong) => library.safeLoadPipeline(wrong)],
  parsePipeline: [
    (wrong) => library.parsePipeline(wrong),
    (wrong) => library.parsePipeline({ file: 'p.yaml', text: wrong }),
    (wrong) => library.parsePipeline({ file: 'p.yaml', text: 'include: a.yaml', read: wrong }),
    (wrong) => library.parsePipeline({ file: 'p.yaml', text: 'include: a.yaml', read: () => wrong }),
  ],
  safeParsePipeline: [(wrong) => library.safeParsePipeline(wrong)],
  createPlan: [
    (wrong) => library.createPlan(wrong),
    (wrong) => library.createPlan({ pipeline: wrong, warnings: [] }),
    (wrong) => library.createPlan(built().build(), wrong),
    (wrong) => library.createPlan(built().build(), { params: wrong }),
    (wrong) => library.createPlan(built().build(), { params: { n: wrong } }),
  ],
  safeCreatePlan: [(wrong) => library.safeCreatePlan(wrong), (wrong) => library.safeCreatePlan(built().build(), wrong)],
  planGraph: [(wrong) => library.planGraph(wrong), (wrong) => library.planGraph({ ...plan(), steps: wrong })],
  selectSteps: [
    (wrong) => library.selectSteps(wrong, ['a'], { direction: 'ancestors' }),
    (wrong) => library.selectSteps(library.planGraph(plan()), wrong, { direction: 'ancestors' }),
    (wrong) => library.selectSteps(library.planGraph(plan()), ['unknown', wrong], { direction: 'ancestors' }),
    (wrong) => library.selectSteps(library.planGraph(plan()), ['a'], wrong),
    (wrong) => library.selectSteps(library.planGraph(plan()), ['a'], { direction: wrong }),
  ],
  renderDiagnostic: [(wrong) => library.renderDiagnostic(wrong)],
  pipelineJsonSchema: [() => library.pipelineJsonSchema()],
  SluiceError: [(wrong) => new library.SluiceError(wrong, 'message')],
  isSluiceError: [(wrong) => library.isSluiceError(wrong), (wrong) => library.isSluiceError(new Error('x'), wrong)],
  run: [
    (wrong) => library.run(wrong, { home }),
    (wrong) => library.run({ pipeline: wrong, warnings: [] }, { home }),
    (wrong) => library.run(built(), { home: wrong, params: { unknown: 1 } as never }),
    (wrong) => library.run(built(), { home, params: { unknown: wrong } as never }),
    (wrong) => library.run(built(), { home, parallelism: 0, params: wrong, baseDir: wrong, reuseFrom: wrong }),
    (wrong) => library.run(built(), { home, parallelism: 0, service: wrong, secrets: wrong }),
    (wrong) => library.run(built(), { home, parallelism: 0, signal: wrong, onEvent: wrong }),
  ],
  safeRun: [(wrong) => library.safeRun(wrong, { home })],
  execute: [
    (wrong) => library.execute(wrong, { home }),
    (wrong) => library.execute(built(), { home, parallelism: 0, signal: wrong, onEvent: wrong }),
  ],
  safeExecute: [(wrong) => library.safeExecute(wrong, { home })],
  resume: [(wrong) => library.resume(wrong, { home }), (wrong) => library.resume('none', wrong)],
  safeResume: [(wrong) => library.safeResume(wrong, { home }), (wrong) => library.safeResume('none', wrong)],
  attach: [
    (wrong) => library.attach(wrong, { home }),
    (wrong) => library.attach('none', wrong),
    (wrong) => library.attach('none', { home, signal: wrong, service: wrong, pipeline: wrong }),
  ],
  safeAttach: [(wrong) => library.safeAttach(wrong, { home }), (wrong) => library.safeAttach('none', wrong)],
  safeSubmit: [(wrong) => library.safeSubmit(wrong, { home })],
  submit: [
    (wrong) => library.submit(wrong, { home }),
    (wrong) => library.submit(built(), { home: wrong, params: { unknown: 1 } as never }),
    (wrong) => library.submit(built(), { home, parallelism: 0, service: wrong, secrets: wrong }),
    (wrong) => library.submit(built().build(), { home, reuseFrom: wrong, baseDir: wrong }),
  ],
  listRuns: [(wrong) => library.listRuns(wrong)],
  readRun: [(wrong) => library.readRun(wrong, { home }), (wrong) => library.readRun('none', wrong)],
  explainStep: [
    (wrong) => library.explainStep(wrong, 'a', { home }),
    (wrong) => library.explainStep('none', wrong, { home }),
    (wrong) => library.explainStep('none', 'a', wrong),
  ],
  reportRun: [(wrong) => library.reportRun(wrong, { home }), (wrong) => library.reportRun('none', wrong)],
  approveRun: [
    (wrong) => library.approveRun(wrong, 'a', { home }),
    (wrong) => library.approveRun('none', wrong, { home }),
    (wrong) => library.approveRun('none', 'a', wrong),
    (wrong) => library.approveRun('none', 'a', { home, profile: wrong, service: wrong }),
  ],
  rejectRun: [
    (wrong) => library.rejectRun(wrong, 'a', { home }),
    (wrong) => library.rejectRun('none', wrong, { home }),
    (wrong) => library.rejectRun('none', 'a', wrong),
  ],
  suspendRun: [(wrong) => library.suspendRun(wrong, { home }), (wrong) => library.suspendRun('none', wrong)],
  deleteRun: [(wrong) => library.deleteRun(wrong, { home }), (wrong) => library.deleteRun('none', wrong)],
  cancelRun: [(wrong) => library.cancelRun(wrong, { home }), (wrong) => library.cancelRun('none', wrong)],
  pullOutput: [
    (wrong) => library.pullOutput(wrong, 'a', { home, to: 'to' }),
    (wrong) => library.pullOutput('none', wrong, { home, to: 'to' }),
    (wrong) => library.pullOutput('none', 'a', wrong),
  ],
  openService: [
    (wrong) => library.openService({ home, profile: wrong, cluster: '' }),
    (wrong) => library.openService({ home, account: wrong, cluster: '' }),
  ],
  openEmbeddedService: [
    (wrong) => library.openEmbeddedService({ home: wrong, cpu: -1 }),
    (wrong) => library.openEmbeddedService({ home, cpu: wrong ?? 0 }),
  ],
  connectService: [
    (wrong) => library.connectService(wrong),
    (wrong) => library.connectService({ baseUrl: wrong, token: 't' }),
    () => library.connectService({ baseUrl: 'no address', token: 't' }),
    (wrong) => library.connectService({ baseUrl: 'http://127.0.0.1:9', login: wrong }),
    (wrong) => library.connectService({ baseUrl: 'http://127.0.0.1:9', token: 't', scope: wrong }),
  ],
};

test('each export is called with wrong input', () => {
  expect(Object.keys(CALLS).sort()).toEqual(Object.keys(library).sort());
});

describe.each(Object.entries(CALLS))('%s', (_, calls) => {
  test.each(WRONG)('throws nothing but SluiceError: %s', async (_, wrong) => {
    for (const [index, call] of calls.entries()) {
      try {
        await call(wrong as never);
      } catch (error) {
        expect(error, `call ${index}: ${call}`).toMatchObject({ name: 'SluiceError', code: expect.any(String) });
      }
    }
  });
});

test.each<[string, () => unknown]>([
  [
    'step b: inputs.data is undefined',
    () => built().step('b', { command: ['x'], inputs: { data: undefined as never } }),
  ],
  ['step b: could not read an argument: a trap', () => built().step('b', new Proxy({}, { get: TRAP }))],
  [
    'at: the path must be a string',
    () =>
      built()
        .step('b', { outputs: ['o'] })
        .outputs.o.at(5 as never),
  ],
  ['output best: expected an output of a step', () => built().output('best', 'a.o' as never)],
  ['results: loss is not a result of a step', () => built().results({ loss: 'a.loss' as never })],
  ['expression: the source must be a string', () => library.expression(undefined as never)],
  [
    'createPlan: params: Invalid input: expected record, received number',
    () => library.createPlan(built().build(), { params: 5 as never }),
  ],
  ['run: the first argument must be a pipeline', () => library.run({} as never)],
  [
    'run: there is no option paralelism; did you mean `parallelism`?',
    () => library.run(built(), { paralelism: 3 } as never),
  ],
  ['readRun: there is no option house; did you mean `home`?', () => library.readRun('a', { house: '.' } as never)],
  ['run: onEvent: expected a function', () => library.run(built(), { onEvent: 5 as never })],
  [
    'run: service: expected what openService, openEmbeddedService or connectService has returned',
    () => library.run(built(), { service: {} as never }),
  ],
  ['readRun: home: Invalid input: expected string, received number', () => library.readRun('a', { home: 5 as never })],
  [
    'connectService: expected a token or a login',
    () => library.connectService({ baseUrl: 'http://127.0.0.1:9' } as never),
  ],
])('wrong input has a message that names it: %s', async (message, call) => {
  const error: unknown = await Promise.resolve()
    .then(call)
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'SluiceError', code: 'INVALID_ARGUMENT', message });
});

test('what the function of a program throws is not changed', () => {
  const p = library.pipeline('p');
  expect(() => p.step('a', { foreach: [1] }, TRAP)).toThrow(RangeError);
  const broken = library.pipeline('p', { include: 'a.yaml' }).safeBuild({ read: TRAP });
  expect(broken).toMatchObject({
    ok: false,
    error: { code: 'INVALID_PIPELINE', message: expect.stringContaining('a trap') },
  });
});
