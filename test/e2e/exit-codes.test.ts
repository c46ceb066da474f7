import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, parseLines, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

function write(name: string, text: string): void {
  writeFileSync(join(place.directory, name), text);
}

const FAILING = `
version: 1
name: failing
failFast: false
steps:
  good: { command: [echo, fine] }
  bad: { command: [sh, -c, "echo before the end; echo at the end >&2; exit 3"] }
  after: { command: [echo, never], needs: [bad] }
`;

test('sluice run exits with 0 on success', async () => {
  write('p.yaml', 'version: 1\nname: p\nsteps:\n  hello: { command: [echo, hello] }\n');
  expect(await place.sluice('run', 'p.yaml')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('sluice run ends with 1 when a step failed, and shows the end of its log', async () => {
  write('p.yaml', FAILING);
  const { exitCode, stdout } = await place.sluice('run', 'p.yaml');
  expect(exitCode).toBe(1);
  expect(stdout).toContain('bad attempt 1: exit code 3\n  │ before the end\n  │ at the end\n');
  expect(stdout).toMatch(/failing failed in .*: 1 succeeded, 1 failed, 1 skipped/);
});

test('sluice run ends with 1 when an output could not be copied, and says how to get it', async () => {
  const text = `
version: 1
name: p
steps:
  ask: { approval: { message: "go on?" } }
  make: { command: [sh, -c, "echo made > /out/file"], outputs: { made: /out }, needs: [ask] }
outputs:
  made: { from: make.made, publish: ./taken }
`;
  write('p.yaml', text);
  expect(await place.sluice('run', 'p.yaml', '--stop-at-approval')).toMatchObject({ exitCode: 75 });
  // What is in the way before the run begins is rejected then; this comes later.
  write('taken', 'a file where the directory should be');
  const { runId } = (await place.runs())[0]!;
  expect(await place.sluice('approve', '-r', runId, 'ask')).toMatchObject({ exitCode: 0 });
  const { exitCode, stdout } = await place.sluice('resume', runId);
  expect(exitCode, stdout).toBe(1);
  expect(stdout).toContain('could not copy output made to');
  const [, run] = /copy it to \.\/results with: sluice pull -r (\w+) made\n/.exec(stdout) ?? [];
  expect(await place.sluice('pull', '-r', run!, 'made', '--to', 'elsewhere')).toMatchObject({ exitCode: 0 });
  expect(place.read('elsewhere/made/file')).toBe('made\n');
  // Without a run, from the newest; without a declared output of that name, all outputs of the step.
  expect(await place.sluice('pull', 'made', '--to', 'again')).toMatchObject({ exitCode: 0 });
  expect(place.read('again/made/file')).toBe('made\n');
  const wrong = await place.sluice('pull', 'maid');
  expect(wrong).toMatchObject({
    exitCode: 2,
    stderr: `could not pull maid: run ${runId} has the outputs made, make.made\n`,
  });
});

test('sluice run rejects a place to publish that it must not replace before anything runs, and --to likewise', async () => {
  const text = (to: string) => `
version: 1
name: p
steps:
  make: { command: [sh, -c, "echo made > /out/file"], outputs: { made: /out } }
outputs:
  made: { from: make.made, publish: ${to} }
`;
  mkdirSync(join(place.directory, 'notes'));
  write('notes/mine.txt', 'by hand');
  for (const [to, why] of [
    ['./notes', 'it contains files that Sluice did not write: "mine.txt"'],
    ['.', 'has to stay'],
    ['/proc/nope', 'no directory can be created there'],
  ] as const) {
    write('p.yaml', text(to));
    const rejected = await place.sluice('run', 'p.yaml');
    expect(rejected).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(why) });
    expect(await place.runs()).toEqual([]);
  }
  write('p.yaml', text('./results'));
  expect(await place.sluice('run', 'p.yaml')).toMatchObject({ exitCode: 0 });
  expect(await place.sluice('report', '--to', '/proc/nope')).toMatchObject({ exitCode: expect.any(Number) });
  expect(await place.sluice('pull', '--to', '/proc/nope')).toMatchObject({ exitCode: expect.any(Number) });
  expect(await place.sluice('runs', '--home', '/proc/nope/home')).toMatchObject({ exitCode: expect.any(Number) });
});

test('a step that is skipped leaves the former result, and the run says whose it is', async () => {
  const text = `
version: 1
name: p
params: { go: true, fail: false }
steps:
  make:
    when: \${{ params.go }}
    script: |
      if [ \${{ params.fail }} = true ]; then exit 1; fi
      echo made > /out/file
    outputs: { made: /out }
outputs:
  made: { from: make.made, publish: ./results }
`;
  write('p.yaml', text);
  expect(await place.sluice('run', 'p.yaml')).toMatchObject({ exitCode: 0 });
  const marker = () => JSON.parse(place.read('results/.sluice-result.json'));
  const [first] = await place.runs();
  expect(marker()).toMatchObject({ runId: first?.runId, pipeline: 'p', output: 'made', files: ['file'] });
  for (const [param, exitCode] of [
    ['go=false', 0],
    ['fail=true', 1],
  ] as const) {
    const ended = await place.sluice('run', 'p.yaml', '-p', param);
    expect(ended.exitCode, ended.stderr).toBe(exitCode);
    expect(ended.stdout).toContain(
      `this run did not create the output made: results still contains the output of run ${first?.runId}`,
    );
    const runs = await place.runs();
    const newest = runs.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))[0]!;
    const { staleOutputs } = await place.show(newest.runId);
    expect(staleOutputs?.made).toMatchObject({ runId: first?.runId, directory: expect.stringMatching(/\/results$/) });
    expect(marker()).toMatchObject({ runId: first?.runId });
  }
});

test('sluice run --stop-at-approval ends with 75 where only a person is waited for, whose answer the next runner goes by', async () => {
  const text = `
version: 1
name: p
steps:
  ask: { approval: { message: "go on?" } }
  after: { command: [echo, hello], needs: [ask] }
`;
  write('p.yaml', text);
  const left = await place.sluice('run', 'p.yaml', '--stop-at-approval');
  expect(left).toMatchObject({ exitCode: 75, stdout: expect.stringContaining('approve with: sluice approve') });
  const [run] = await place.runs();
  expect(await place.sluice('approve', 'ask')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(`sluice resume ${run!.runId}`),
  });
  expect(await place.sluice('resume', '--stop-at-approval')).toMatchObject({ exitCode: 0 });
});

test('sluice show and sluice logs tell later what was told then', async () => {
  write('p.yaml', FAILING);
  await place.sluice('run', 'p.yaml');
  const [run] = await place.runs();
  expect(run).toMatchObject({ pipeline: 'failing', status: 'failed' });
  const shown = await place.sluice('show', run!.runId.slice(0, 6));
  expect(shown.exitCode).toBe(0);
  expect(shown.stdout).toMatch(/^good +succeeded/m);
  expect(shown.stdout).toMatch(/^bad +failed .*exit code 3/m);
  expect(shown.stdout).toMatch(/^after +skipped/m);
  expect(await place.sluice('logs', '-r', run!.runId, 'bad')).toMatchObject({
    exitCode: 0,
    stdout: 'before the end\nat the end\n',
  });
  expect(await place.sluice('logs', '-r', run!.runId, 'bad', '--tail', '1')).toMatchObject({ stdout: 'at the end\n' });
  expect(await place.sluice('logs', '-r', run!.runId, 'worse')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('has no step worse; there are `good`, `bad`, `after`'),
  });
});

test('sluice run ends with 2 for a wrong file, tells every fault in file order, and starts nothing', async () => {
  write('p.yaml', 'version: 1\nname: p\nsteps:\n  a: { comand: [echo] }\n  b: { command: [echo], needs: [aa] }\n');
  for (const command of ['check', 'plan', 'run']) {
    const { exitCode, stderr } = await place.sluice(command, 'p.yaml');
    expect(exitCode).toBe(2);
    const places = [...stderr.matchAll(/p\.yaml:(\d+):(\d+)/g)].map((match) => match[1]);
    expect(places).toEqual(['4', '5']);
    expect(stderr).toContain('`command`');
    expect(stderr).toContain('2 errors in p.yaml');
  }
  expect(existsSync(place.home)).toBe(false);
  expect(parseLines((await place.sluice('check', 'p.yaml', '--json')).stdout)).toHaveLength(2);
});

test('sluice run ends with 3 when the service cannot be reached', async () => {
  write('p.yaml', 'version: 1\nname: p\nsteps:\n  hello: { command: [echo, hello] }\n');
  const args = ['run', 'p.yaml', '--service', 'http://127.0.0.1:9'];
  const { exitCode, stderr } = await place.start(args, { env: { SLUICE_TOKEN: 'none' } }).ended;
  expect(stderr).toContain('127.0.0.1:9');
  expect(exitCode).toBe(3);
});

test('sluice run ends with 2 when there is no credential for the service, which is not asked', async () => {
  write('p.yaml', 'version: 1\nname: p\nsteps:\n  hello: { command: [echo, hello] }\n');
  const { exitCode, stderr } = await place.sluice('run', 'p.yaml', '--service', 'http://127.0.0.1:9');
  expect(exitCode).toBe(2);
  expect(stderr).toContain('SLUICE_TOKEN');
});

test('sluice suggests what to do next when it rejects a command', async () => {
  write('p.yaml', 'version: 1\nname: p\nsecrets: [KEY]\nsteps:\n  a: { command: [echo], secrets: [KEY] }\n');
  const says = async (text: string, ...args: string[]) =>
    expect(await place.sluice(...args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(text) });
  await says('could not find a run in', 'show');
  await says('set the variable SLUICE_SECRET_<NAME>', 'run', 'p.yaml');
  await says('It must be at least 1', 'run', 'p.yaml', '--parallelism', '0');
  await says('could not read ', 'run');
  await says('Try: sluice logs --help', 'logs');
  write('home', 'a file');
  await says('name another home with --home', 'run', 'p.yaml', '--home', 'home');
  await place.start(['run', 'p.yaml'], { env: { SLUICE_SECRET_KEY: 'secret' } }).ended;
  const [run] = await place.runs();
  for (const command of ['logs', 'why', 'approve', 'pull']) {
    await says(`list its steps with: sluice show ${run!.runId}`, command, run!.runId.slice(0, 8));
  }
  await says('could not find a run that is suspended in', 'resume');
  await says(`sluice rerun ${run!.runId}`, 'resume', run!.runId);
});
