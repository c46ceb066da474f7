import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

function write(word: string): void {
  writeFileSync(
    join(place.directory, 'p.yaml'),
    [
      'version: 1',
      'name: p',
      'failFast: false',
      'steps:',
      `  prep: { command: [sh, -c, 'echo ${word} > /out/a'], outputs: { data: /out }, cache: true }`,
      '  use: { command: [cat, /in/data/a], inputs: { data: prep.data }, cache: true }',
      "  bad: { command: [sh, -c, 'echo trouble; exit 3'], retry: 1 }",
      '  after: { command: [echo, never], needs: [bad] }',
    ].join('\n'),
  );
}

test('sluice why explains why a step failed, was retried, was skipped, ran again or was reused', async () => {
  write('one');
  await place.sluice('run', 'p.yaml');
  const bad = await place.sluice('why', 'bad');
  expect(bad).toMatchObject({ exitCode: 0, stderr: '' });
  expect(bad.stdout).toMatch(/^bad {2}failed {2}exit code 3\n/);
  expect(bad.stdout).toContain('tried again: retry 1 of 1 for failed');
  expect(bad.stdout).toContain('not tried again: all its retries (1) are used');
  expect(bad.stdout).toContain('│ trouble');
  expect((await place.sluice('why', 'after')).stdout).toMatch(/^after {2}skipped {2}bad did not succeed\n/);
  write('two');
  await place.sluice('run', 'p.yaml');
  expect((await place.sluice('why', 'use')).stdout).toMatch(
    /the content of inputs\.data changed .*; see: sluice why -r \w+ prep/,
  );
  expect((await place.sluice('why', 'prep')).stdout).toMatch(/command is .*two.*; it was .*one/);
  await place.sluice('run', 'p.yaml');
  const [, second] = await place.runs();
  const reused = JSON.parse((await place.sluice('why', 'use', '--json')).stdout);
  expect(reused).toMatchObject({ status: 'succeeded', reused: true, cache: { kind: 'hit', runId: second?.runId } });
  expect(await place.sluice('why', 'nothing')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('has no step nothing'),
  });
});

test('a run writes its report, and sluice report writes it again elsewhere', async () => {
  write('one');
  const { stdout } = await place.sluice('run', 'p.yaml');
  const runId = /\(run (\w+)\)/.exec(stdout)?.[1] ?? '';
  const directory = join(place.home, 'runs', runId);
  for (const name of ['report.html', 'attempts.csv', 'report.json'])
    expect(existsSync(join(directory, name))).toBe(true);
  expect((await place.sluice('report', '--to', 'out')).stdout).toContain('out/report.html');
  for (const name of ['report.html', 'attempts.csv', 'report.json']) {
    expect(place.read(join('out', name))).toBe(readFileSync(join(directory, name), 'utf8'));
  }
});

test('plan and why name the shell of a text with a pipe, and a failure by SIGPIPE says how to allow it', async () => {
  const step = "first: { script: 'yes | head -n 1' }";
  writeFileSync(join(place.directory, 'p.yaml'), `version: 1\nname: p\nsteps: { ${step} }\n`);
  expect((await place.sluice('plan', 'p.yaml')).stdout).toContain('shell: bash with pipefail');
  const run = await place.sluice('run', 'p.yaml');
  expect(run).toMatchObject({ exitCode: 1 });
  const hint = '`(PROGRAM || test $? = 141) | READER`';
  expect(run.stdout).toContain(hint);
  const why = await place.sluice('why', 'first');
  expect(why.stdout).toContain('shell: bash with pipefail');
  expect(why.stdout).toContain(hint);
});
