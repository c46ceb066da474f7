import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

function write(output: string, text: string): void {
  writeFileSync(
    join(place.directory, 'p.yaml'),
    `version: 1\nname: p\nsteps:\n  make: { command: [sh, -c, "echo ${text} > /o/file"], outputs: { o: /o } }\noutputs: { "${output}": make.o }\n`,
  );
}

test('a word that begins the ID of an older run and is an output of the newest is not guessed', async () => {
  write('first', 'old');
  let older = '';
  // A name may not begin with a digit, as IDs do.
  while (!/^[a-z]/.test(older)) {
    await place.sluice('run', 'p.yaml');
    older = (await place.runs())[0]!.runId;
  }
  // Long enough that the newest run's ID does not begin with it, too.
  const word = older.slice(0, 5);
  write(word, 'new');
  await place.sluice('run', 'p.yaml');
  const newest = (await place.runs())[0]!.runId;
  const refused = await place.sluice('pull', word);
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain(`sluice pull --run ${older}`);
  expect(refused.stderr).toContain(`sluice pull --run ${newest} ${word}`);
  expect(existsSync(join(place.directory, 'results'))).toBe(false);
  expect((await place.sluice('pull', '--run', newest, word)).exitCode).toBe(0);
  expect(readFileSync(join(place.directory, 'results', word, 'file'), 'utf8')).toBe('new\n');
  expect((await place.sluice('pull', '-r', older)).exitCode).toBe(0);
  expect(readFileSync(join(place.directory, 'results', 'first', 'file'), 'utf8')).toBe('old\n');
  // The whole ID is no abbreviation.
  expect((await place.sluice('pull', older, '--to', 'more')).exitCode).toBe(0);
});

test('what is suggested after a failure repeats the parameters and options of the run', async () => {
  const body =
    'params: { n: 1 }\nsteps:\n  a: { command: [echo, "${{ params.n }}"] }\n  b: { command: [sh, -c, "exit 1"], needs: [a] }\n';
  writeFileSync(join(place.directory, 'p.yaml'), `version: 1\nname: p\n${body}`);
  const failed = await place.sluice('run', 'p.yaml', '-p', 'n=5', '--parallelism', '2');
  expect(failed.stdout).toContain(
    'sluice run p.yaml --reuse -p n=5 --parallelism 2 (reuses every successful, unchanged step)',
  );
});
