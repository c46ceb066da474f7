import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeStatus } from '@sluice/run';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

/** No step says `cache: true`; `prepare` makes something else each time. */
function write(check: string, name = 'p'): void {
  const text = `
version: 1
name: ${name}
params: { last: one }
steps:
  prepare: { script: date +%N > /out/now, outputs: { data: /out } }
  fit:
    matrix: { k: [1, 2] }
    inputs: { data: prepare.data }
    outputs: { model: /model }
    command: [sh, -c, 'cat /in/data/now > /model/$0', "\${{ matrix.k }}"]
  check: { inputs: { model: fit.model }, script: "${check}" }
  agree: { needs: [check], script: echo agreed }
  last: { needs: [agree], command: [echo, "\${{ params.last }}"] }
finally:
  tell: { script: echo told }
`;
  writeFileSync(join(place.directory, 'p.yaml'), text);
}

/** What `sluice plan --json` says about reuse. */
interface PrintedPlan {
  readonly reuseFrom?: string;
  readonly steps: readonly { readonly step: string; readonly reuse?: { reused: number; message?: string } }[];
}

/** Where the run takes over, it must do what `sluice plan` says that it would. */
async function statesAfter(...args: string[]): Promise<Record<string, string>> {
  const planned = await place.sluice('plan', 'p.yaml', '--json', ...args);
  const plan = JSON.parse(planned.stdout) as PrintedPlan;
  const ended = await place.sluice('run', 'p.yaml', ...args);
  expect([0, 1], ended.stderr).toContain(ended.exitCode);
  const [newest] = await place.runs();
  const { steps } = await place.show(newest!.runId);
  if (plan.reuseFrom !== undefined) {
    const taken = steps.map(({ cells }) => cells.filter(({ reused }) => reused).length);
    expect(plan.steps.map(({ reuse }) => reuse!.reused)).toEqual(taken);
    expect(plan.steps.map(({ reuse }) => reuse!.message !== undefined)).toEqual(
      steps.map(({ cells }) => cells.some(({ status, reused }) => !reused && status !== 'skipped')),
    );
  }
  return Object.fromEntries(steps.map((step) => [step.step, describeStatus(step)]));
}

test('sluice run --reuse reuses successful, unchanged steps and runs the others', async () => {
  write('exit 3');
  const first = await statesAfter();
  expect(first).toMatchObject({ prepare: 'succeeded', fit: 'succeeded', check: 'failed', last: 'skipped' });
  const [failed] = await place.runs();

  write('cat /in/model/*/*');
  const anew = { check: 'succeeded', agree: 'succeeded', last: 'succeeded', tell: 'succeeded' };
  expect(await statesAfter('--reuse')).toEqual({ prepare: 'reused', fit: 'reused', ...anew });
  // The data of the failed run is what was checked: one moment, twice.
  const { stdout } = await place.sluice('logs', 'check');
  expect(new Set(stdout.trim().split('\n')).size).toBe(1);
  // Names the failed run still: what the second run would repeat was made by the first.
  const [second] = await place.runs();
  expect((await place.show(second!.runId)).steps[0]!.cells[0]!.reusedFrom).toBe(failed!.runId);

  const taken = { prepare: 'reused', fit: 'reused', check: 'reused', agree: 'reused' };
  expect(await statesAfter('--reuse', '-p', 'last=two')).toEqual({ ...taken, last: 'succeeded', tell: 'succeeded' });
  expect((await place.sluice('why', 'last')).stdout).toContain('command is ["echo","two"]; it was ["echo","one"]');
});

test('sluice run --from reruns a step and everything that depends on it in any way', async () => {
  write('true');
  await statesAfter();
  const again = { check: 'succeeded', agree: 'succeeded', last: 'succeeded', tell: 'succeeded' };
  expect(await statesAfter('--from', 'check')).toEqual({ prepare: 'reused', fit: 'reused', ...again });
  expect((await place.sluice('why', 'last')).stdout).toContain(
    'not reused: step agree, which comes before it, was executed in this run',
  );
});

test('sluice plan --reuse says why a step would not be taken over, as far as can be told without a container', async () => {
  const write = (edit: (text: string) => string) =>
    writeFileSync(
      join(place.directory, 'p.yaml'),
      edit(`
version: 1
name: p
volumes: { code: { source: ./code } }
steps:
  list:
    script: echo '["a", "b"]' > /sluice/results/names
    results: { names: array }
  each:
    foreach: \${{ steps.list.results.names }}
    script: cat /in/code/\${{ item }}; test \${{ item }} = a
    inputs: { code: volumes.code }
    continueOnError: true
  never: { when: "\${{ size(steps.list.results.names) > 5 }}", command: ["true"] }
  agree: { approval: true }
  web: { needs: [agree], command: [sleep, "100"], ports: { http: {} }, service: true }
  ask: { command: [echo, "\${{ steps.web.ports.http.url }}"] }
  after: { needs: { never: completed }, command: ["true"] }
`),
    );
  mkdirSync(join(place.directory, 'code'));
  for (const name of ['a', 'b']) writeFileSync(join(place.directory, 'code', name), name);
  write((text) => text);
  const first = place.start(['run', 'p.yaml']);
  await until(() => first.stdout().includes('sluice approve'), 'the question');
  const [run] = await place.runs();
  await place.sluice('approve', 'agree');
  expect(await first.ended).toMatchObject({ exitCode: 0 });

  const reasons = async (...args: string[]) => {
    const { stdout } = await place.sluice('plan', 'p.yaml', '--json', '--reuse', ...args);
    const { steps } = JSON.parse(stdout) as PrintedPlan;
    return Object.fromEntries(steps.map(({ step, reuse }) => [step, reuse!.message ?? reuse!.reused]));
  };
  const same = {
    list: 1,
    each: `did not succeed in run ${run!.runId}`,
    never: 0,
    agree: 'asks for approval again',
    web: 'a service always runs',
    ask: 1,
    after: 1,
  };
  expect(await reasons()).toEqual(same);
  expect((await place.sluice('plan', 'p.yaml', '--reuse')).stdout).toContain('1 of 2: did not succeed in run');
  writeFileSync(join(place.directory, 'code', 'a'), 'c');
  expect(await reasons()).toEqual({ ...same, each: `differs in inputs.code; ${same.each}` });
  write((text) => text.replace('"a", "b"', '"a", "c"'));
  const after = { each: 'comes after list', never: 'comes after list', after: 'comes after never' };
  expect(await reasons()).toEqual({ ...same, list: 'differs in command', ...after });
  expect(await reasons('--from', 'after')).toMatchObject({
    list: 'differs in command',
    after: 'a rerun was requested',
  });
});

test('sluice run --reuse rejects a run of another pipeline and a step that is not there', async () => {
  write('true', 'other');
  expect(await place.sluice('run', 'p.yaml', '--reuse')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('could not find a run in'),
  });
  await place.sluice('run', 'p.yaml');
  const [run] = await place.runs();
  write('true');
  expect(await place.sluice('run', 'p.yaml', '--reuse-from', run!.runId)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('it is one of pipeline other, and this is p'),
  });
  write('true', 'other');
  expect(await place.sluice('run', 'p.yaml', '--from', 'chek')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('has no step chek; did you mean `check`?'),
  });
  expect(await place.runs()).toHaveLength(1);
});

test('sluice rerun repeats a run with its parameters, from any directory and with the current file', async () => {
  write('exit 3');
  const failed = await place.sluice('run', 'p.yaml', '-p', "last=it's two", '--parallelism', '3');
  const [run] = await place.runs();
  const suggested = `then: sluice rerun ${run!.runId} (reuses every successful, unchanged step)`;
  expect(failed.stdout).toContain(suggested);
  expect((await place.sluice('show', run!.runId)).stdout).toContain(suggested);

  write('true');
  const rerun = async (...args: string[]) => {
    const started = place.start(['rerun', run!.runId.slice(0, 8), ...args], { cwd: '/' });
    const ended = await started.ended;
    expect(ended.exitCode, ended.stderr).toBe(0);
    const [newest] = await place.runs();
    const { steps } = await place.show(newest!.runId);
    const { stdout: last } = await place.sluice('logs', 'last');
    return { said: last, ...Object.fromEntries(steps.map((step) => [step.step, describeStatus(step)])) };
  };
  const done = { check: 'succeeded', agree: 'succeeded', last: 'succeeded' };
  const said = "it's two\n";
  expect(await rerun()).toMatchObject({ said, prepare: 'reused', fit: 'reused', ...done });
  expect(await rerun('--all')).toMatchObject({ said, prepare: 'succeeded', fit: 'succeeded', ...done });
  expect(await rerun('--from', 'fit', '-p', 'last=three')).toMatchObject({
    ...{ said: 'three\n', prepare: 'reused', fit: 'succeeded' },
    ...done,
  });
});

test('sluice rerun --from STEP/CELL reruns one cell and what depends on it', async () => {
  const steps = `
  fit: { matrix: { k: [1, 2] }, script: 'date +%N > /out/o/t', outputs: [o] }
  list: { foreach: [a, b], script: 'true' }
  use: { command: [cat, /in/o/k-1/t], inputs: { o: fit.o } }
  free: { command: ['true'] }
`;
  writeFileSync(join(place.directory, 'pipeline.yaml'), `version: 1\nname: p\nsteps:${steps}`);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  const [first] = await place.runs();
  const reused = async () => {
    const [newest] = await place.runs();
    const { steps: shown } = await place.show(newest!.runId);
    const cells = shown.flatMap(({ step, cells: of }) => of.map(({ cell, reused: was }) => [`${step}/${cell}`, was]));
    return cells.filter(([, was]) => was !== true).map(([name]) => name);
  };
  expect(await place.sluice('rerun', '--from', 'fit/k-2', '--from', 'list/a')).toMatchObject({ exitCode: 0 });
  expect(await reused()).toEqual(['fit/k-2', 'list/a', 'use/']);
  expect((await place.sluice('why', 'fit/k-2')).stdout).toContain('rerun');
  const again = await place.sluice('rerun', first!.runId);
  expect(await reused()).toEqual([]);
  const [newest] = await place.runs();
  expect(again.stdout).toContain(`run all steps again with: sluice rerun ${newest!.runId} --all\n`);
  expect(await place.sluice('rerun', '--from', 'fit/k-3')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/step fit of run \w+ has no cell k-3; did you mean `k-[12]`\?/),
  });
  for (const words of [['rerun', '--from'], ['logs'], ['why']]) {
    for (const [name, code] of [
      ['fit/k-3', 'CELL_NOT_FOUND'],
      ['fitt/k-1', 'STEP_NOT_FOUND'],
    ] as const) {
      const { stdout } = await place.sluice(...words, name, '--json');
      expect(JSON.parse(stdout)).toMatchObject({ type: 'error', code });
    }
  }
  expect(await place.sluice('rerun', '--from', 'fit', '--all')).toMatchObject({ exitCode: 2 });
});

test('sluice rerun rejects a run that has not ended', async () => {
  const text = 'version: 1\nname: p\nsteps:\n  ask: { approval: true }\n';
  writeFileSync(join(place.directory, 'pipeline.yaml'), text);
  expect(await place.sluice('run', '--stop-at-approval')).toMatchObject({ exitCode: 75 });
  const [run] = await place.runs();
  expect(await place.sluice('rerun')).toMatchObject({
    exitCode: 2,
    stderr: `could not rerun run ${run!.runId}: it has not ended; continue it with: sluice resume ${run!.runId}\n`,
  });
  expect((await place.sluice('show', 'nothing', '--home', 'h2')).stderr).toContain('sluice runs --home h2');
});

test('sluice run does not combine results of two parallel runs', async () => {
  writeFileSync(
    join(place.directory, 'p.yaml'),
    `
version: 1
name: p
params: { first: 0, then: 0 }
steps:
  make:
    env: { DELAY: "\${{ params.first }}" }
    script: sleep $DELAY; date +%N > /out/now/text
    outputs: [now]
    cache: { ignore: [DELAY] }
  copy:
    inputs: { made: make.now }
    env: { DELAY: "\${{ params.then }}" }
    script: sleep $DELAY; cp /in/made/text /out/copied/text
    outputs: [copied]
    cache: { ignore: [DELAY] }
outputs: { made: { from: make.now }, copied: { from: copy.copied } }
`,
  );
  // The first run is the last to finish `make`, and the second one the last to finish `copy`.
  const runs = [
    ['first=1', 'then=0'],
    ['first=0', 'then=3'],
  ].map((params) => place.start(['run', 'p.yaml', ...params.flatMap((param) => ['-p', param])]));
  for (const run of runs) expect(await run.ended).toMatchObject({ exitCode: 0 });
  const taken = await statesAfter();
  expect(taken).toEqual({ make: 'reused', copy: 'reused' });
  for (const output of ['made', 'copied']) {
    const pulled = await place.sluice('pull', output, '--to', join(place.directory, 'pulled'));
    expect(pulled.exitCode, pulled.stderr).toBe(0);
  }
  const read = (output: string) => readFileSync(join(place.directory, 'pulled', output, 'text'), 'utf8');
  expect(read('copied')).toBe(read('made'));
});

test('sluice run --reuse repeats a push behind an approval after a rebuild', async () => {
  writeFileSync(
    join(place.directory, 'p.yaml'),
    `
version: 1
name: p
params: { n: 1 }
steps:
  build: { command: [sh, -c, 'echo $0 > /out/app/n', "\${{ params.n }}"], outputs: [app] }
  check: { inputs: { app: build.app }, script: cat /in/app/n }
  release: { needs: [check], approval: true }
  push: { needs: [release], script: echo pushed }
`,
  );
  const approve = async (...args: string[]) => {
    const run = place.start(['run', 'p.yaml', ...args]);
    await until(() => run.stdout().includes('sluice approve'), 'the question');
    await place.sluice('approve', 'release');
    expect(await run.ended).toMatchObject({ exitCode: 0 });
    const [newest] = await place.runs();
    const { steps } = await place.show(newest!.runId);
    return Object.fromEntries(steps.map((step) => [step.step, describeStatus(step)]));
  };
  await approve();
  const again = { check: 'succeeded', release: 'succeeded', push: 'succeeded' };
  expect(await approve('--reuse', '-p', 'n=2')).toEqual({ build: 'succeeded', ...again });
  expect(await approve('--from', 'check', '-p', 'n=2')).toEqual({ build: 'reused', ...again });
  const taken = { build: 'reused', check: 'reused', release: 'succeeded', push: 'reused' };
  expect(await approve('--reuse', '-p', 'n=2')).toEqual(taken);
});
