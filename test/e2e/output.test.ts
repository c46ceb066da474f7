import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, parseLines, type Workplace } from './workplace-rig.ts';

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
    steps: [{ name: 'many', cells: ['n-1', 'n-2', 'n-3'] }],
  });
  expect(events.at(-1)).toMatchObject({ type: 'runFinished', report: { status: 'succeeded' } });
  expect(events.filter((event) => event.type === 'cellChanged' && event.state === 'succeeded')).toHaveLength(3);
});

test('a reader that goes away does not disturb the run', async () => {
  const shell = `"${process.execPath}" "${COMMAND}" run p.yaml | head -n 1; exit "\${PIPESTATUS[0]}"`;
  const env = { ...process.env, SLUICE_HOME: place.home };
  const { status, stdout, stderr } = spawnSync('bash', ['-c', shell], { cwd: place.directory, env, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout.split('\n')).toHaveLength(2);
  expect(status).toBe(0);
  expect(await place.runs()).toMatchObject([{ status: 'succeeded' }]);
});
