import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMAND, createWorkplace, makeSharedDirectory, until } from './workplace-rig.ts';

/** Open files of the command and of its launcher, which holds one for each container that runs. */
const OPEN_FILES = 110;
/** More than there are open files, whoever runs this: none ends before one could not start. */
const CELLS = OPEN_FILES + 20;

/** Each is a mount, for which a container needs an open file more while it starts. */
const MOUNTS = Array.from({ length: 12 }, (_, index) => index);

test('a machine that is short of open files fails no step: what could not start is tried again', async () => {
  const place = createWorkplace();
  const shared = makeSharedDirectory();
  const gate = join(shared, 'gate');
  const make = { command: ['true'], outputs: Object.fromEntries(MOUNTS.map((i) => [`o${i}`, `/o${i}`])) };
  const use = {
    matrix: { i: Array.from({ length: CELLS }, (_, index) => index) },
    script: `while [ ! -e '${gate}' ]; do sleep 1; done`,
    inputs: Object.fromEntries(MOUNTS.map((i) => [`i${i}`, `make.o${i}`])),
    instanceType: 'local-1',
    retry: { infrastructure: 100, backoff: { initial: '200ms', max: '2s' } },
  };
  writeFileSync(join(place.directory, 'p.json'), JSON.stringify({ version: 1, name: 'p', steps: { make, use } }));
  const line = `ulimit -n ${OPEN_FILES}; exec ${process.execPath} ${COMMAND} run p.json --cpu ${CELLS}`;
  const child = spawn('sh', ['-c', line], { cwd: place.directory, stdio: ['ignore', 'pipe', 'inherit'] });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const shortage = /could not .*: Too many open files/;
  await until(() => child.exitCode !== null || shortage.test(stdout), 'a container that could not start');
  writeFileSync(gate, '');
  expect(await ended).toBe(0);
  expect(stdout).toMatch(shortage);
  expect(stdout).toMatch(new RegExp(`p succeeded in .*: ${CELLS + 1} succeeded`));
  rmSync(shared, { recursive: true });
  place.remove();
});
