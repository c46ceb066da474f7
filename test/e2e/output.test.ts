import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, parseLines, type Workplace, withoutMachine } from './workplace-rig.ts';

const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/sluice.js', import.meta.url));

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
  writeFileSync(
    join(place.directory, 'p.yaml'),
    'version: 1\nname: p\nsteps:\n  many: { matrix: { n: [1, 2, 3] }, command: [echo, hi] }\n',
  );
});

afterEach(() => place.remove());

test('piped output is plain lines without colours or redrawing', async () => {
  const { stdout } = await place.sluice('run', 'p.yaml');
  expect(stdout).not.toContain('\u001b');
  expect(stdout).not.toContain('\r');
  const lines = stdout.split('\n').slice(0, 3).sort();
  expect(lines).toEqual(
    ['n-1', 'n-2', 'n-3'].map((key) => expect.stringMatching(new RegExp(`^many/${key} +succeeded +\\d`))),
  );
});

test('--json prints one event per line, from runStarted to runFinished', async () => {
  const { stdout, exitCode } = await place.sluice('run', 'p.yaml', '--json');
  expect(exitCode).toBe(0);
  const events = parseLines(stdout);
  expect(events[0]).toMatchObject({
    type: 'runStarted',
    pipeline: 'p',
    steps: [{ step: 'many', cells: ['n-1', 'n-2', 'n-3'] }],
  });
  expect(events.at(-1)).toMatchObject({ type: 'runFinished', report: { status: 'succeeded' } });
  expect(events.filter((event) => event.type === 'cellChanged' && event.status === 'succeeded')).toHaveLength(3);
});

/** What a shell makes of a command line; `$SLUICE` is the command. */
function inShell(script: string) {
  const env = { ...process.env, SLUICE_HOME: place.home, SLUICE: `${process.execPath} ${COMMAND}` };
  return spawnSync('bash', ['-c', script], { cwd: place.directory, env, encoding: 'utf8' });
}

test('a reader that goes away does not disturb the run', async () => {
  const { status, stdout, stderr } = inShell('$SLUICE run p.yaml | head -n 1; exit "${PIPESTATUS[0]}"');
  expect(withoutMachine(stderr)).toBe('');
  expect(stdout.split('\n')).toHaveLength(2);
  expect(status).toBe(0);
  expect(await place.runs()).toMatchObject([{ status: 'succeeded' }]);
});

test('an answer that could not be written is no success', () => {
  const { status, stderr } = inShell('$SLUICE plan p.yaml > /dev/full');
  expect(stderr).toMatch(/^sluice: could not write all of the output: .*ENOSPC/);
  expect(status).toBe(1);
});

test('following a log ends when its reader has closed the pipe', () => {
  const talk = 'version: 1\nname: talk\nsteps:\n  talk: { script: "while :; do echo tick; sleep 0.05; done" }\n';
  writeFileSync(join(place.directory, 'talk.yaml'), talk);
  const { stdout } = inShell(`
    $SLUICE run talk.yaml > run.txt &
    for i in {1..100}; do $SLUICE logs talk --tail 1 2> /dev/null | grep -q tick && break; done
    timeout 60 $SLUICE logs talk --follow | head -n 1
    echo "\${PIPESTATUS[0]}"
    $SLUICE cancel > cancel.txt
    wait`);
  expect(stdout).toBe('tick\n0\n');
});
