import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMAND, createWorkplace } from './workplace-rig.ts';

/** Each is a mount, for which a container needs an open file while it starts. */
const MOUNTS = Array.from({ length: 12 }, (_, index) => index);

test('a machine that is short of open files fails no step: what could not start is tried again', () => {
  const place = createWorkplace();
  const make = { command: ['true'], outputs: Object.fromEntries(MOUNTS.map((i) => [`o${i}`, `/o${i}`])) };
  const use = {
    matrix: { i: Array.from({ length: 60 }, (_, index) => index) },
    command: ['sleep', '0.3'],
    inputs: Object.fromEntries(MOUNTS.map((i) => [`i${i}`, `make.o${i}`])),
    instanceType: 'local-1',
    retry: { infrastructureLimit: 30, backoff: { initial: '200ms', max: '1s' } },
  };
  writeFileSync(join(place.directory, 'p.json'), JSON.stringify({ version: 1, name: 'p', steps: { make, use } }));
  const line = `ulimit -n 110; exec ${process.execPath} ${COMMAND} run p.json --cores 60`;
  const { stdout, status } = spawnSync('sh', ['-c', line], { cwd: place.directory, encoding: 'utf8' });
  expect(stdout).toMatch(/could not mount .*: Too many open files/);
  expect(stdout).toMatch(/p succeeded in .*: 61 succeeded/);
  expect(status).toBe(0);
  place.remove();
});
